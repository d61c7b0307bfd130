package org.plantstore.adapter.http.observe;

import java.util.concurrent.TimeUnit;

/**
 * Limits a line of the log to one in a second: thousands of callers that come again and again would
 * otherwise fill the disk. Safe for use by many threads.
 */
public final class LogLimit {

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private long nextNanos = System.nanoTime();

  /** Returns whether the line is to be written now; if so, not again before the second is over. */
  public synchronized boolean isDue() {
    long now = System.nanoTime();
    if (now - nextNanos < 0) {
      return false;
    }
    nextNanos = now + PAUSE_NANOS;
    return true;
  }
}
