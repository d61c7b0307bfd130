package org.plantstore.adapter.persistence.database;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.time.Duration;

/** How long the database may take: most of it follows from how long a create may wait. */
@Singleton
public final class DatabaseTimeouts {

  public static final String CREATE_SECONDS = "database.timeout.seconds";

  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(1);

  private final Duration create;

  /** Creates the time-outs for creates that may wait this long, at least 1 s. */
  DatabaseTimeouts(@Property(name = CREATE_SECONDS) int createSeconds) {
    this.create = Duration.ofSeconds(createSeconds);
  }

  /** Returns how long a create waits, whatever the database does. */
  public Duration create() {
    return create;
  }

  /** Returns the server's time-out for a statement, shorter than its caller's. */
  Duration statement() {
    return create.multipliedBy(4).dividedBy(5);
  }

  /**
   * Returns after what time a statement is lost: later than its caller has given up, because until
   * then the server can still be asked to cancel it.
   */
  Duration answer() {
    return create.plus(SIGN_OF_LIFE);
  }

  /** Returns the server's time-out for a lock: its plant is then separated from others. */
  Duration lock() {
    return create.dividedBy(5);
  }

  /** Returns how long a host may take for each answer while a connection is opened. */
  Duration login() {
    return Duration.ofMillis(Math.min(Math.max(create.toMillis() / 2, 1_000), 2_000));
  }

  /** Returns how long an open connection may take to show that it is alive. */
  Duration signOfLife() {
    return SIGN_OF_LIFE;
  }
}
