package org.plantstore.adapter.persistence.database;

import java.time.Duration;

/**
 * The time-outs of the database, which follow from the deadline of a create.
 *
 * @param deadline the deadline of a create, at least 1 s
 */
record DatabaseTimeouts(Duration deadline) {

  /** The time-out of a probe on an open connection. */
  static final Duration PROBE = Duration.ofSeconds(1);

  /** Returns the server's time-out for a statement. */
  Duration statement() {
    return deadline.multipliedBy(4).dividedBy(5);
  }

  /** Returns the socket timeout of a statement, before which the server is asked to cancel it. */
  Duration socket() {
    return deadline.plus(PROBE);
  }

  /** Returns the server's time-out for a lock. */
  Duration lock() {
    return deadline.dividedBy(5);
  }

  /** Returns the socket timeout of each answer during a login. */
  Duration login() {
    return Duration.ofMillis(Math.min(Math.max(deadline.toMillis() / 2, 1_000), 2_000));
  }
}
