package org.plantstore.adapter.persistence.database;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.time.Duration;

/** The time-outs of the database, which follow from the deadline of a create, at least 1 s. */
@Singleton
public final class DatabaseTimeouts {

  public static final String CREATE_SECONDS = "database.timeout.seconds";

  private static final Duration PROBE = Duration.ofSeconds(1);

  private final Duration create;

  DatabaseTimeouts(@Property(name = CREATE_SECONDS) int createSeconds) {
    this.create = Duration.ofSeconds(createSeconds);
  }

  /** Returns the deadline of a create, whatever the database does. */
  public Duration create() {
    return create;
  }

  /** Returns the server's time-out for a statement, which ends before its caller's deadline. */
  Duration statement() {
    return create.multipliedBy(4).dividedBy(5);
  }

  /**
   * Returns the socket timeout of a statement. It exceeds the caller's deadline, so that the server
   * can still be asked to cancel.
   */
  Duration socket() {
    return create.plus(PROBE);
  }

  /** Returns the server's time-out for a lock. The plant is then written separately. */
  Duration lock() {
    return create.dividedBy(5);
  }

  /** Returns the socket timeout of each answer during a login. */
  Duration login() {
    return Duration.ofMillis(Math.min(Math.max(create.toMillis() / 2, 1_000), 2_000));
  }

  /** Returns the time-out of a probe on an open connection. */
  Duration probe() {
    return PROBE;
  }
}
