package org.plantstore.app;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.function.Executable;

/** Waits for conditions instead of sleeping for a fixed time. */
final class Await {

  /** Much longer than any condition takes, so that tests also pass on a busy machine. */
  static final Duration LIMIT = Duration.ofMinutes(3);

  /** Long enough not to slow down the process that the test waits for. */
  private static final Duration PERIOD = Duration.ofMillis(50);

  private Await() {}

  /**
   * Repeats an assertion until it succeeds. If the assertion still fails after {@link #LIMIT}, the
   * test fails with its message.
   */
  static void until(Executable assertion) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      try {
        assertion.execute();
        return;
      } catch (Throwable e) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("no success within " + LIMIT + ": " + e.getMessage(), e);
        }
        LockSupport.parkNanos(PERIOD.toNanos());
      }
    }
  }
}
