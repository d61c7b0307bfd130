package org.plantstore.adapter.http.observe;

import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * A line of the log that is written once in a while at most: thousands of callers that come again
 * and again would otherwise fill the disk. Safe for use by many threads.
 */
public final class RareLine {

  private final long pauseNanos;
  private long nextNanos = System.nanoTime();
  private long unwritten;

  /** Creates a line that is written at most once in a period. */
  public RareLine(Duration pause) {
    this.pauseNanos = pause.toNanos();
  }

  /**
   * Writes the line, unless it was written a moment ago.
   *
   * @param writer writes it; is given how often it was not written since the last time
   */
  public synchronized void write(LongConsumer writer) {
    long now = System.nanoTime();
    if (now - nextNanos < 0) {
      unwritten++;
      return;
    }
    writer.accept(unwritten);
    unwritten = 0;
    nextNanos = now + pauseNanos;
  }
}
