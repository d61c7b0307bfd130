package org.plantstore.adapter.persistence.database;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.time.Duration;

/** How long the database may take: most of it follows from how long a create may wait. */
@Singleton
public final class DatabaseTimeouts {

  public static final String CREATE_SECONDS = "database.timeout.seconds";
  public static final String START_SECONDS = "database.start.timeout.seconds";

  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(1);
  private static final Duration LONGEST_LOGIN = Duration.ofSeconds(2);

  private final Duration create;
  private final Duration start;

  /**
   * Creates the time-outs.
   *
   * @param createSeconds how long a create may wait, in seconds, at least 1
   * @param startSeconds how long a start may wait for its database, in seconds, at least 0
   */
  public DatabaseTimeouts(
      @Property(name = CREATE_SECONDS) int createSeconds,
      @Property(name = START_SECONDS) int startSeconds) {
    this.create = Duration.ofSeconds(createSeconds);
    this.start = Duration.ofSeconds(startSeconds);
  }

  /** Returns how long a create waits, whatever the database does. */
  public Duration create() {
    return create;
  }

  /** Returns how long a start waits for its database. */
  public Duration start() {
    return start;
  }

  /** Returns how long a migration waits for locked tables: as a start, but not too short. */
  public Duration migrationLock() {
    return max(start, LONGEST_LOGIN);
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
    Duration half = max(create.dividedBy(2), SIGN_OF_LIFE);
    return half.compareTo(LONGEST_LOGIN) < 0 ? half : LONGEST_LOGIN;
  }

  /** Returns how long an open connection may take to show that it is alive. */
  Duration signOfLife() {
    return SIGN_OF_LIFE;
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? other : one;
  }
}
