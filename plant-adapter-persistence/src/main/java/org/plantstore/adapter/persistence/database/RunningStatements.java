package org.plantstore.adapter.persistence.database;

import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The statements whose answers the store is waiting for, and when the last answer came. Safe for
 * use by many threads.
 */
@Singleton
public final class RunningStatements {

  private static final Logger LOG = LoggerFactory.getLogger(RunningStatements.class);

  private record Running(Connection connection, Statement statement, long began) {

    boolean isOlderThan(Duration age) {
      return System.nanoTime() - began > age.toNanos();
    }
  }

  private final Set<Running> running = ConcurrentHashMap.newKeySet();
  private volatile long lastAnswer = System.nanoTime();

  /**
   * Executes a query, whose result is in memory then.
   *
   * @throws SQLException if it fails, or its connection is aborted meanwhile
   */
  public ResultSet execute(PreparedStatement query) throws SQLException {
    Running entry = new Running(query.getConnection(), query, System.nanoTime());
    running.add(entry);
    try {
      ResultSet rows = query.executeQuery();
      lastAnswer = System.nanoTime();
      return rows;
    } catch (SQLException e) {
      if (running.remove(entry) && entry.connection.isClosed()) {
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
   * that waits for a standby would wait for ever, also when its caller has given up. A statement
   * that has ended meanwhile is left alone, and so is the next one on its connection.
   *
   * @param age younger statements are spared
   */
  void cancelOlderThan(Duration age) {
    for (Running entry : running) {
      if (entry.isOlderThan(age)) {
        try {
          entry.statement.cancel();
        } catch (SQLException e) {
          LOG.debug("The statement cannot be cancelled", e);
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
