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
 * The statements whose answers the store is waiting for, and when the last answer came. Safe for
 * use by many threads.
 */
@Singleton
public final class RunningStatements {

  private static final Logger LOG = LoggerFactory.getLogger(RunningStatements.class);

  /** Statements on one connection. */
  @FunctionalInterface
  public interface Statements<T> {

    T execute() throws SQLException;
  }

  private record Running(Connection connection, long began) {

    boolean isOlderThan(Duration age) {
      return System.nanoTime() - began > age.toNanos();
    }
  }

  private final Set<Running> running = ConcurrentHashMap.newKeySet();
  private volatile long lastAnswer = System.nanoTime();

  /**
   * Executes statements on the connection.
   *
   * @throws SQLException if one of them fails, or the connection is aborted meanwhile
   */
  public <T> T execute(Connection connection, Statements<T> statements) throws SQLException {
    Running entry = new Running(connection, System.nanoTime());
    running.add(entry);
    try {
      T result = statements.execute();
      lastAnswer = System.nanoTime();
      return result;
    } catch (SQLException e) {
      if (running.remove(entry) && connection.isClosed()) {
        LOG.warn("A connection to the database broke: {}", new PostgresFailure(e).describe());
      }
      throw e;
    } finally {
      running.remove(entry);
    }
  }

  /** Returns whether statements have succeeded within this time. */
  boolean hasSucceededWithin(Duration time) {
    return System.nanoTime() - lastAnswer < time.toNanos();
  }

  /**
   * Aborts connections whose answers can no longer be expected.
   *
   * @param instant a value of {@link System#nanoTime()}; statements that began later are spared
   * @param age younger statements are spared
   */
  void abortBegunBefore(long instant, Duration age) {
    running.stream()
        .filter(entry -> entry.began - instant < 0 && entry.isOlderThan(age))
        .forEach(this::abort);
  }

  private void abort(Running entry) {
    if (running.remove(entry) && abort(entry.connection)) {
      LOG.warn("A connection was cut off: the database is back, but answers nothing on this one");
    }
  }

  /**
   * Asks the server to cancel statements. It ends most statements in time by itself; but a commit
   * that waits for a standby would wait for ever, also when its caller has given up.
   *
   * @param age younger statements are spared
   */
  void cancelOlderThan(Duration age) {
    for (Running entry : running) {
      if (entry.isOlderThan(age)) {
        try {
          entry.connection.unwrap(PgConnection.class).cancelQuery();
        } catch (SQLException e) {
          LOG.debug("The statement has ended already", e);
        }
      }
    }
  }

  /**
   * Closes a connection without notice to the server, in a thread of its own: with TLS this takes
   * as long as a statement that is being sent to a server that does not read.
   *
   * @return whether the connection was open
   */
  static boolean abort(Connection connection) {
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
