package org.plantstore.adapter.http.observe;

import java.time.Duration;

/**
 * A line of the log that is written once in a while at most: thousands of callers that come again
 * and again would otherwise fill the disk. Safe for use by many threads.
 */
public final class RareLine {

  private final long pauseNanos;
  private long nextNanos = System.nanoTime();

  /** Creates a line that is written at most once in a period. */
  public RareLine(Duration pause) {
    this.pauseNanos = pause.toNanos();
  }

  /** Returns whether the line is to be written now; if so, not again before the pause is over. */
  public synchronized boolean isDue() {
    long now = System.nanoTime();
    if (now - nextNanos < 0) {
      return false;
    }
    nextNanos = now + pauseNanos;
    return true;
  }
}
