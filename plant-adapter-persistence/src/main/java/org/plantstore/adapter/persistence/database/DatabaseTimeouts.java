package org.plantstore.adapter.persistence.database;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.time.Duration;

/** How long the database may take: what a create waits for follows from its deadline. */
@Singleton
public final class DatabaseTimeouts {

  public static final String CREATE_SECONDS = "database.timeout.seconds";

  public static final String START_SECONDS = "database.start.timeout.seconds";

  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(1);

  private static final Duration LONGEST_ATTEMPT = Duration.ofSeconds(3);

  private final Duration create;
  private final Duration start;

  /**
   * Makes the time-outs.
   *
   * @param createSeconds how long a create may wait, in seconds, at least 1
   * @param startSeconds how long a start may wait for its database, in seconds, at least 0
   */
  DatabaseTimeouts(
      @Property(name = CREATE_SECONDS) int createSeconds,
      @Property(name = START_SECONDS) int startSeconds) {
    this.create = Duration.ofSeconds(createSeconds);
    this.start = Duration.ofSeconds(startSeconds);
  }

  /** Answers how long a create waits, whatever the database does. */
  public Duration create() {
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
   * Answers after what time a statement is taken to be lost: later than its caller has given it up,
   * because until then the server can still be asked to cancel it.
   */
  Duration answer() {
    return create.plus(SIGN_OF_LIFE);
  }

  /**
   * Answers after what time the server gives up a lock: earlier still, so that there is time to
   * separate the plant that waits for it from others.
   */
  Duration lock() {
    return create.dividedBy(5);
  }

  /** Answers how long a host that has accepted a connection may take for each of its answers. */
  Duration attempt() {
    return create.compareTo(LONGEST_ATTEMPT) < 0 ? create : LONGEST_ATTEMPT;
  }

  /**
   * Answers how long a migration waits for a database that keeps silent, and for tables that are
   * locked. Not too short in any case: the database was there a moment ago.
   */
  public Duration migration() {
    return start.compareTo(attempt()) < 0 ? attempt() : start;
  }

  /**
   * Answers how long a host may take to accept a connection, and a connection to show that it is
   * alive. It does not follow from the deadline: how soon the database is found again does not.
   */
  Duration signOfLife() {
    return SIGN_OF_LIFE;
  }
}
