package org.plantstore.app;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.function.Executable;

/** Waits for conditions instead of sleeping. */
final class Await {

  /** Much longer than any condition takes, for a busy machine. */
  static final Duration LIMIT = Duration.ofSeconds(60);

  private static final Duration PERIOD = Duration.ofMillis(10);

  private Await() {}

  /** Repeats an assertion until it does not fail; its last failure fails the test. */
  static void until(Executable assertion) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      try {
        assertion.execute();
        return;
      } catch (Throwable e) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("not within " + LIMIT + ": " + e.getMessage(), e);
        }
        LockSupport.parkNanos(PERIOD.toNanos());
      }
    }
  }
}
