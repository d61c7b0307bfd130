package org.plantstore.app;

import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.function.Executable;

/**
 * Promised limits on time. The service exceeds a limit if it is too slow or the machine is busy.
 */
final class TimeLimits {

  private static final int MAX_ATTEMPTS = 10;

  /** Additional time for a slow machine. */
  private static final Duration MARGIN = Duration.ofMillis(1_500);

  private TimeLimits() {}

  /** Repeats a scenario that exceeds a limit, but only if the machine was busy meanwhile. */
  static void check(Executable scenario) throws Throwable {
    for (int attempt = 1; ; attempt++) {
      AtomicBoolean isOver = new AtomicBoolean();
      FutureTask<Boolean> watch = new FutureTask<>(() -> isBusyUntil(isOver));
      new Thread(watch).start();
      try {
        scenario.execute();
        return;
      } catch (TimeoutException e) {
        isOver.set(true);
        if (attempt == MAX_ATTEMPTS || !watch.get()) {
          throw e;
        }
      } finally {
        isOver.set(true);
      }
    }
  }

  /** Returns whether a pause of 10 ms takes more than 30 ms, as on a busy machine. */
  private static boolean isBusyUntil(AtomicBoolean isOver) {
    boolean isBusy = false;
    while (!isOver.get()) {
      long start = System.nanoTime();
      LockSupport.parkNanos(10_000_000);
      isBusy |= System.nanoTime() - start > 30_000_000;
    }
    return isBusy;
  }

  /** Executes a step of a scenario, which must not take longer than the limit and a margin. */
  static void within(Duration limit, String step, Executable execution) throws Throwable {
    long start = System.nanoTime();
    execution.execute();
    Duration taken = Duration.ofNanos(System.nanoTime() - start);
    expect(taken.compareTo(limit.plus(MARGIN)) < 0, step + " took " + taken);
  }

  /** Expects something that always occurs in time unless the machine is busy. */
  static void expect(boolean hasOccurred, String otherwise) throws TimeoutException {
    if (!hasOccurred) {
      throw new TimeoutException(otherwise);
    }
  }
}
