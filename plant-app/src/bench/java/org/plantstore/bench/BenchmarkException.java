package org.plantstore.bench;

/** Ends the benchmark, because a figure would be wrong or missing; the message says why. */
final class BenchmarkException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  BenchmarkException(String message) {
    super(message);
  }
}
