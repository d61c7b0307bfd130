package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.function.Executable;

/**
 * Promised limits on time, on a machine that may stall. A scenario that exceeds a limit is
 * repeated. If the service is too slow, it exceeds the limit in every attempt. This class is
 * thread-safe.
 */
final class TimeLimits {

  private static final int ATTEMPTS = 5;

  /** Additional time for a slow machine. */
  private static final Duration MARGIN = Duration.ofMillis(1_500);

  private final Queue<String> exceeded = new ConcurrentLinkedQueue<>();

  /** Repeats a scenario until it exceeds no limit. */
  void check(Executable scenario) throws Throwable {
    for (int attempt = 1; attempt == 1 || areExceeded(); attempt++) {
      assertTrue(attempt <= ATTEMPTS, exceeded::toString);
      exceeded.clear();
      scenario.execute();
    }
  }

  /** Executes a step of a scenario, and notes if it takes longer than the limit and a margin. */
  void within(Duration limit, String step, Executable execution) {
    long start = System.nanoTime();
    try {
      execution.execute();
    } catch (Throwable e) {
      throw new AssertionError(step + ": " + e.getMessage(), e);
    }
    Duration taken = Duration.ofNanos(System.nanoTime() - start);
    expect(taken.compareTo(limit.plus(MARGIN)) < 0, step + " took " + taken);
  }

  /** Notes that something did not occur that always occurs unless the machine stalls. */
  void expect(boolean hasOccurred, String otherwise) {
    if (!hasOccurred) {
      exceeded.add(otherwise);
    }
  }

  boolean areExceeded() {
    return !exceeded.isEmpty();
  }
}
