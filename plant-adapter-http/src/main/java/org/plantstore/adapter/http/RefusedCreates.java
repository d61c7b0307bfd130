package org.plantstore.adapter.http;

import jakarta.inject.Singleton;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that creates were refused because the store is away, in at most one line each second:
 * thousands of callers that come again every second would otherwise fill the disk. Safe for use by
 * many threads.
 */
@Singleton
final class RefusedCreates {

  private static final Logger LOG = LoggerFactory.getLogger(RefusedCreates.class);
  private static final Duration PERIOD = Duration.ofSeconds(1);

  private long nextLineNanos = System.nanoTime();
  private long unlogged;

  /** Counts a refused create, and logs it with all that were counted since the last line. */
  synchronized void add(String reason) {
    long now = System.nanoTime();
    if (now - nextLineNanos < 0) {
      unlogged++;
      return;
    }
    LOG.warn(
        "A plant was not created, its caller is asked to retry ({} more since the last such line): {}",
        unlogged,
        reason);
    unlogged = 0;
    nextLineNanos = now + PERIOD.toNanos();
  }
}
