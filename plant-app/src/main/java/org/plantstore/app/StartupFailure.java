package org.plantstore.app;

import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The reason for which the service does not start, in one line without a stack trace. */
final class StartupFailure {

  private StartupFailure() {}

  /** Writes the reason to standard error, and ends the process with exit code 1. */
  static void exit(Throwable failure) {
    System.err.println("plant-store does not start: " + reasonFor(failure));
    System.exit(1);
  }

  static String reasonFor(Throwable failure) {
    // Bounded, because causes may form a circle.
    List<Throwable> causes =
        Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(100).toList();
    Throwable root = causes.get(causes.size() - 1);
    return causes.stream()
        .filter(ConfigurationException.class::isInstance)
        .map(Throwable::getMessage)
        // The framework wraps the reason in the places where it occurred.
        .reduce((outer, inner) -> inner)
        .orElseGet(() -> root.getClass().getSimpleName() + ": " + root.getMessage())
        .replaceAll("\\s+", " ")
        .strip();
  }
}
