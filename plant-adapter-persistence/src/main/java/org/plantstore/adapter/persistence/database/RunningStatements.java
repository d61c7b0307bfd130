package org.plantstore.adapter.persistence.database;

import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The store's statements in flight. Safe for use by many threads. */
@Singleton
public final class RunningStatements {

  private static final Logger LOG = LoggerFactory.getLogger(RunningStatements.class);

  private record Running(PreparedStatement statement, Connection connection, long began) {

    boolean isOlderThan(Duration age) {
      return System.nanoTime() - began > age.toNanos();
    }
  }

  private final Set<Running> running = ConcurrentHashMap.newKeySet();
  private volatile long lastSuccess = System.nanoTime();

  /** Executes a query, and reads its whole result into memory. */
  public ResultSet execute(PreparedStatement query) throws SQLException {
    Running entry = new Running(query, query.getConnection(), System.nanoTime());
    running.add(entry);
    try {
      ResultSet rows = query.executeQuery();
      lastSuccess = System.nanoTime();
      return rows;
    } catch (SQLException e) {
      // Otherwise it was aborted here, which is logged already.
      if (running.contains(entry) && entry.connection.isClosed()) {
        LOG.warn("A connection to the database broke: {}", new PostgresFailure(e).describe());
      }
      throw e;
    } finally {
      running.remove(entry);
    }
  }

  /** Returns whether a statement has succeeded within this time. */
  boolean hasSucceededWithin(Duration time) {
    return System.nanoTime() - lastSuccess < time.toNanos();
  }

  /** Aborts the connections of statements that began before a nanoTime and exceed the age. */
  void abortBegunBefore(long instant, Duration age) {
    running.forEach(entry -> {
      if (entry.began - instant < 0 && entry.isOlderThan(age) && running.remove(entry)) {
        LOG.warn("A silent connection was closed, because the database answers on a new one");
        abort(entry.connection);
      }
    });
  }

  /**
   * Asks the server to cancel statements that exceed the age. The server's own time-out does not
   * apply while a commit waits for a standby. Later statements of the connection are not affected.
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
   * Closes a connection without notice to the server. Uses a thread of its own, because closing TLS
   * waits for a statement that is being sent to a server that does not read.
   */
  static void abort(Connection connection) {
    try {
      connection.abort(closing -> {
        Thread thread = new Thread(closing, "database-closer");
        thread.setDaemon(true);
        thread.start();
      });
    } catch (SQLException e) {
      LOG.debug("The connection was closed already", e);
    }
  }
}
