package org.plantstore.app;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.function.Executable;

/** Waits for conditions instead of sleeping. */
final class Await {

  /** Much longer than any condition takes, for a busy machine. */
  static final Duration LIMIT = Duration.ofSeconds(60);

  private static final Duration PERIOD = Duration.ofMillis(10);

  private Await() {}

  /** As below, with a condition that needs no description of what is instead. */
  static void until(String condition, Callable<Boolean> isTrue) {
    until(() -> condition, isTrue);
  }

  /** Repeats the action until it does not throw; fails the test after {@link #LIMIT}. */
  static void success(String action, Executable executable) {
    until(
        action,
        () -> {
          try {
            executable.execute();
            return true;
          } catch (Throwable e) {
            return false;
          }
        });
  }

  /** Returns when the condition holds; fails the test if it does not within {@link #LIMIT}. */
  static void until(Supplier<String> condition, Callable<Boolean> isTrue) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    try {
      while (!isTrue.call()) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("not within " + LIMIT + ": " + condition.get());
        }
        LockSupport.parkNanos(PERIOD.toNanos());
      }
    } catch (Exception e) {
      throw new IllegalStateException(condition.get() + ": " + e, e);
    }
  }
}
