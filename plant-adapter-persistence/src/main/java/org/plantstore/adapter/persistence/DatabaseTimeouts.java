package org.plantstore.adapter.persistence;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.time.Duration;

/** How long the database may take: all follows from DATABASE_TIMEOUT_SECONDS. */
@Singleton
final class DatabaseTimeouts {

  private final Duration create;

  /**
   * Makes the time-outs.
   *
   * @param seconds how long a create may wait, in seconds, at least 1
   */
  DatabaseTimeouts(@Property(name = PersistenceSettings.TIMEOUT_SECONDS) int seconds) {
    this.create = Duration.ofSeconds(seconds);
  }

  /** Answers how long a create waits, whatever the database does. */
  Duration create() {
    return create;
  }

  /**
   * Answers after what time the server gives up a statement: before its client does, or every
   * client that gives up would leave a connection behind that waits on.
   */
  Duration statement() {
    return create.multipliedBy(4).dividedBy(5);
  }

  /**
   * Answers after what time the server gives up a lock: earlier still, so that there is time to
   * separate the plant that waits for it from others.
   */
  Duration lock() {
    return create.dividedBy(5);
  }

  /** Answers how long the driver waits for a host to accept a connection: at least 1 s. */
  Duration connect() {
    Duration connect = create.dividedBy(5);
    return connect.toSeconds() < 1 ? Duration.ofSeconds(1) : connect;
  }

  /** Answers how long a connection may take to show that it is alive: at least 1 s. */
  Duration probe() {
    return connect();
  }
}
