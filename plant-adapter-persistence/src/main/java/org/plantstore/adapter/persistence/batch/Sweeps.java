package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.CancellationException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats the sweep of a queue every 10 ms. One thread sweeps all queues, and ends when there is
 * none.
 */
final class Sweeps implements Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(Sweeps.class);

  static final ScheduledThreadPoolExecutor EXECUTOR = executor();

  private final BooleanSupplier sweep;
  private boolean hasFailed;

  private Sweeps(BooleanSupplier sweep) {
    this.sweep = sweep;
  }

  private static ScheduledThreadPoolExecutor executor() {
    var executor =
        new ScheduledThreadPoolExecutor(
            1,
            sweeps -> {
              Thread thread = new Thread(sweeps, "plant-deadlines");
              thread.setDaemon(true);
              return thread;
            });
    executor.setKeepAliveTime(1, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** Sweeps until a sweep returns true. */
  @SuppressWarnings("FutureReturnValueIgnored") // run() reports failures
  static void begin(BooleanSupplier sweep) {
    EXECUTOR.scheduleWithFixedDelay(new Sweeps(sweep), 10, 10, TimeUnit.MILLISECONDS);
  }

  /** Throws only after the last sweep: an exception ends the schedule. Failures are logged. */
  @Override
  public void run() {
    boolean isLast = false;
    try {
      isLast = sweep.getAsBoolean();
      hasFailed = false;
    } catch (RuntimeException | Error e) {
      report(e);
    }
    if (isLast) {
      throw new CancellationException("the last sweep");
    }
  }

  /** Logs the first of several failures in a row. */
  private void report(Throwable failure) {
    try {
      if (!hasFailed) {
        hasFailed = true;
        LOG.error("Deadlines of plants cannot be enforced, and are tried again", failure);
      }
    } catch (RuntimeException | Error e) {
      // There is no memory for the line; the deadlines matter more.
    }
  }
}
