package org.plantstore.app;

import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The reason why the service does not start, in one line without stack traces. */
final class StartupFailure {

  private static final int EXIT_CODE = 1;
  private static final int MAX_CAUSES = 100;

  private StartupFailure() {}

  /** Writes the reason to standard error, and ends the process. */
  static void exit(Throwable failure) {
    System.err.println("plant-store does not start: " + reasonFor(failure));
    System.exit(EXIT_CODE);
  }

  /** Returns what is wrong, in one line. */
  static String reasonFor(Throwable failure) {
    // Bounded, because causes may be a circle.
    List<Throwable> chain =
        Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MAX_CAUSES).toList();
    Throwable root = chain.get(chain.size() - 1);
    return chain.stream()
        .filter(ConfigurationException.class::isInstance)
        .map(Throwable::getMessage)
        // The inner one says what is wrong, the outer ones say where.
        .reduce((outer, inner) -> inner)
        .orElseGet(() -> root.getClass().getSimpleName() + ": " + root.getMessage())
        .replaceAll("\\s+", " ")
        .strip();
  }
}
