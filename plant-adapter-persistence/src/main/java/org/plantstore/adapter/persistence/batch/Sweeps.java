package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats the sweep of a queue every 10 ms. One thread sweeps all queues, and ends when there is
 * none.
 */
final class Sweeps implements Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(Sweeps.class);

  static final ScheduledThreadPoolExecutor EXECUTOR = executor();

  private final Runnable sweep;
  private boolean hasFailed;

  private Sweeps(Runnable sweep) {
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

  /** Sweeps until the returned future is cancelled. */
  static ScheduledFuture<?> begin(Runnable sweep) {
    return EXECUTOR.scheduleWithFixedDelay(new Sweeps(sweep), 10, 10, TimeUnit.MILLISECONDS);
  }

  /** Logs a failure, because an exception would end the schedule. */
  @Override
  public void run() {
    try {
      sweep.run();
      hasFailed = false;
    } catch (RuntimeException | Error e) {
      report(e);
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
