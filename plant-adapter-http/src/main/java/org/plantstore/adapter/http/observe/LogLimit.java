package org.plantstore.adapter.http.observe;

import java.util.concurrent.TimeUnit;

/**
 * Limits one kind of log line to one per second, so that clients cannot fill the disk with such
 * lines. Safe for use by multiple threads.
 */
public final class LogLimit {

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private long nextNanos = System.nanoTime();

  /**
   * Returns whether a line may be written now. After this method has returned {@code true}, it
   * returns {@code false} for one second.
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
