package org.plantstore.adapter.persistence.database;

import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is under way between the store and its database, and when the last answer came. Safe for use
 * by many threads.
 */
@Singleton
public final class DatabaseTraffic {

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseTraffic.class);

  /** Statements on a connection. */
  @FunctionalInterface
  public interface Statements<T> {

    /**
     * Executes the statements.
     *
     * @return what they result in
     * @throws SQLException if one of them fails
     */
    T execute() throws SQLException;
  }

  private record UnderWay(Connection connection, long began) {}

  private final Set<UnderWay> underWay = ConcurrentHashMap.newKeySet();
  private volatile long lastAnswer = System.nanoTime();

  /**
   * Executes statements on the connection.
   *
   * @throws SQLException if one of them fails, or the connection is cut meanwhile
   */
  public <T> T execute(Connection connection, Statements<T> statements) throws SQLException {
    UnderWay entry = new UnderWay(connection, System.nanoTime());
    underWay.add(entry);
    try {
      T result = statements.execute();
      lastAnswer = System.nanoTime();
      return result;
    } catch (SQLException e) {
      if (underWay.remove(entry) && connection.isClosed()) {
        LOG.warn("A connection to the database broke: {}", new PostgresFailure(e).describe());
      }
      throw e;
    } finally {
      underWay.remove(entry);
    }
  }

  /** Says whether statements succeeded this short a time ago. */
  boolean hasBeenAnsweredWithin(Duration time) {
    return System.nanoTime() - lastAnswer < time.toNanos();
  }

  /**
   * Cuts connections from which an answer can no longer be expected. Who waits for it is told that
   * the connection was lost.
   *
   * @param instant a value of {@link System#nanoTime()}; what began later is spared
   * @param age what is younger is spared
   */
  void cutOffBegunBefore(long instant, Duration age) {
    long now = System.nanoTime();
    for (UnderWay entry : underWay) {
      if (entry.began - instant < 0 && now - entry.began > age.toNanos()) {
        cutOff(entry);
      }
    }
  }

  /**
   * Asks the server to cancel statements. It ends most of them in time by itself; but where it
   * waits for a standby, it would do so for ever, also when nobody waits for its answer any more.
   *
   * @param age what is younger is spared
   */
  void cancelOlderThan(Duration age) {
    long now = System.nanoTime();
    for (UnderWay entry : underWay) {
      if (now - entry.began > age.toNanos()) {
        try {
          entry.connection.unwrap(PgConnection.class).cancelQuery();
        } catch (SQLException e) {
          LOG.debug("The statement has ended already", e);
        }
      }
    }
  }

  private void cutOff(UnderWay entry) {
    boolean hasEnded = !underWay.remove(entry);
    if (!hasEnded && abort(entry.connection)) {
      LOG.warn("A connection was cut off: the database is back, but answers nothing on this one");
    }
  }

  /**
   * Closes a connection without a word to the server, and does not wait for that: with TLS it takes
   * as long as a statement that is being sent to a server that does not read.
   *
   * @return whether the connection was open
   */
  public static boolean abort(Connection connection) {
    try {
      connection.abort(closing -> {
        Thread thread = new Thread(closing, "database-closer");
        thread.setDaemon(true);
        thread.start();
      });
      return true;
    } catch (SQLException e) {
      LOG.debug("The connection was closed already", e);
      return false;
    }
  }
}
