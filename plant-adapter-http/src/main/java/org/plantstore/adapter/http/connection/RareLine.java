package org.plantstore.adapter.http.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A line of the log that is written once in a while at most, because an attack must not fill the
 * disk. Safe for use by many threads.
 */
final class RareLine {

  private static final Duration PAUSE = Duration.ofSeconds(10);

  private final AtomicLong next = new AtomicLong(System.nanoTime());

  /** Returns whether to write the line now; if so, not again for some time. */
  boolean isDue() {
    long now = System.nanoTime();
    long due = next.get();
    return now - due >= 0 && next.compareAndSet(due, now + PAUSE.toNanos());
  }
}
