package org.plantstore.app;

import io.micronaut.context.exceptions.ConfigurationException;
import java.net.BindException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Tells an operator why the service does not start, in one line without stack traces. */
final class StartupFailure {

  private static final int EXIT_CODE = 1;

  private StartupFailure() {}

  /** Tells the reason on standard error, and ends the process. */
  static void exit(Throwable failure) {
    System.err.println("plant-store does not start: " + reasonFor(failure));
    System.exit(EXIT_CODE);
  }

  static String reasonFor(Throwable failure) {
    List<Throwable> chain = chainOf(failure);
    Throwable root = chain.get(chain.size() - 1);
    return find(BindException.class, chain)
        .map(e -> "a port cannot be opened; change PORT or MANAGEMENT_PORT: " + e.getMessage())
        .or(() -> find(ConfigurationException.class, chain).map(Throwable::getMessage))
        .orElseGet(() -> root.getClass().getSimpleName() + ": " + root.getMessage())
        .replaceAll("\\s+", " ")
        .strip();
  }

  private static List<Throwable> chainOf(Throwable failure) {
    List<Throwable> chain = new ArrayList<>();
    for (Throwable link = failure; link != null && !chain.contains(link); link = link.getCause()) {
      chain.add(link);
    }
    return chain;
  }

  /** Answers the innermost one: the outer ones say where, it says what. */
  private static <T extends Throwable> Optional<T> find(Class<T> type, List<Throwable> chain) {
    return chain.stream().filter(type::isInstance).map(type::cast).reduce((outer, inner) -> inner);
  }
}
