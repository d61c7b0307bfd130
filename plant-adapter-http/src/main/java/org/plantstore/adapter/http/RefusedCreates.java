package org.plantstore.adapter.http;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that creates were refused because the store is away: the first one at once, further ones
 * together, in one line each second. Thousands of callers that come again every second would
 * otherwise fill the disk. Safe for use by many threads.
 */
@Singleton
final class RefusedCreates {

  private static final Logger LOG = LoggerFactory.getLogger(RefusedCreates.class);
  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final Executor inAPeriod;
  private boolean isSummaryDue;
  private long unlogged;
  private String lastReason = "";

  @Inject
  RefusedCreates() {
    this(CompletableFuture.delayedExecutor(PERIOD.toMillis(), TimeUnit.MILLISECONDS));
  }

  /**
   * Makes the log.
   *
   * @param inAPeriod runs what it is given a {@link #PERIOD} later
   */
  RefusedCreates(Executor inAPeriod) {
    this.inAPeriod = inAPeriod;
  }

  /** Logs that a create was refused, now or with others. */
  synchronized void add(String reason) {
    if (isSummaryDue) {
      unlogged++;
      lastReason = reason;
    } else {
      LOG.warn("A plant was not created, its caller is asked to retry: {}", reason);
      scheduleSummary();
    }
  }

  private synchronized void logSummary() {
    isSummaryDue = false;
    if (unlogged > 0) {
      LOG.warn(
          "{} more plants were not created within {} s, their callers are asked to retry: {}",
          unlogged,
          PERIOD.toSeconds(),
          lastReason);
      unlogged = 0;
      scheduleSummary();
    }
  }

  /** Without a thread for it there is no summary, but the caller is answered all the same. */
  private void scheduleSummary() {
    try {
      inAPeriod.execute(this::logSummary);
      isSummaryDue = true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      LOG.debug("No summary of refused creates can be planned", e);
    }
  }
}
