package org.plantstore.adapter.persistence.database;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.time.Duration;

/** The time-outs of the database, which follow from the deadline of a create, at least 1 s. */
@Singleton
public final class DatabaseTimeouts {

  public static final String CREATE_SECONDS = "database.timeout.seconds";

  private final Duration create;

  DatabaseTimeouts(@Property(name = CREATE_SECONDS) int createSeconds) {
    this.create = Duration.ofSeconds(createSeconds);
  }

  /** Returns the deadline of a create, whatever the database does. */
  public Duration create() {
    return create;
  }

  /** Returns the server's time-out for a statement. */
  Duration statement() {
    return create.multipliedBy(4).dividedBy(5);
  }

  /** Returns the socket timeout of a statement, before which the server is asked to cancel it. */
  Duration socket() {
    return create.plus(probe());
  }

  /** Returns the server's time-out for a lock. */
  Duration lock() {
    return create.dividedBy(5);
  }

  /** Returns the socket timeout of each answer during a login. */
  Duration login() {
    return Duration.ofMillis(Math.min(Math.max(create.toMillis() / 2, 1_000), 2_000));
  }

  /** Returns the time-out of a probe on an open connection. */
  Duration probe() {
    return Duration.ofSeconds(1);
  }
}
