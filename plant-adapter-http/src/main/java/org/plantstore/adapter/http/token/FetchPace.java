package org.plantstore.adapter.http.token;

import java.time.Duration;

/** Lets at most two fetches begin in each period. Instants are values of a nanosecond clock. */
final class FetchPace {

  private final long periodNanos;
  private long last;
  private long lastButOne;

  /** Creates a pace at which two fetches may begin now. */
  FetchPace(Duration period, long now) {
    periodNanos = period.toNanos();
    last = now - periodNanos;
    lastButOne = last;
  }

  /** Returns how long the next fetch has to wait, as of now; 0 if it may begin. */
  long delayNanos(long now) {
    return Math.max(0, lastButOne + periodNanos - now);
  }

  /** Records when the next fetch begins. */
  void begin(long instant) {
    lastButOne = last;
    last = instant;
  }
}
