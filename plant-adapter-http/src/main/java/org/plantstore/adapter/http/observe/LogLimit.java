package org.plantstore.adapter.http.observe;

import java.util.concurrent.TimeUnit;

/**
 * Limits one kind of log line to one line per second, so that clients cannot fill the disk. Safe
 * for use by multiple threads.
 */
public final class LogLimit {

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private long nextNanos = System.nanoTime();

  /**
   * Returns whether a line may be written now. If so, no other line may be written within the next
   * second.
   */
  public synchronized boolean tryAcquire() {
    long now = System.nanoTime();
    if (now - nextNanos < 0) {
      return false;
    }
    nextNanos = now + PAUSE_NANOS;
    return true;
  }
}
