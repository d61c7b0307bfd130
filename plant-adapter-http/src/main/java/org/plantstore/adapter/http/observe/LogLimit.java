package org.plantstore.adapter.http.observe;

import java.util.concurrent.TimeUnit;

/**
 * Limits log lines of one kind to one line per second, so that clients cannot fill the disk. Safe
 * for use by multiple threads.
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
