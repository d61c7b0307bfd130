package org.plantstore.adapter.persistence.database;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The store's statements in flight. Safe for use by many threads. */
@Singleton
public final class RunningStatements {

  private static final Logger LOG = LoggerFactory.getLogger(RunningStatements.class);

  private final int seconds;

  /** When the statement in flight on a connection began, as a nanoTime. */
  private final Map<Connection, Long> running = new ConcurrentHashMap<>();

  private volatile long lastSuccess = System.nanoTime();

  RunningStatements(@Property(name = ConnectionPool.DEADLINE) int seconds) {
    this.seconds = seconds;
  }

  /**
   * Executes a query, and reads its whole result into memory. At the deadline the driver asks the
   * server to cancel the query: the server's own time-out does not apply while a commit waits for a
   * standby.
   */
  public ResultSet execute(PreparedStatement query) throws SQLException {
    Connection connection = query.getConnection();
    running.put(connection, System.nanoTime());
    try {
      query.setQueryTimeout(seconds);
      ResultSet rows = query.executeQuery();
      lastSuccess = System.nanoTime();
      return rows;
    } catch (SQLException e) {
      if (running.containsKey(connection) && connection.isClosed()) {
        LOG.warn("A connection to the database broke: {}", new PostgresFailure(e).describe());
      }
      throw e;
    } finally {
      running.remove(connection);
    }
  }

  /** Returns whether a statement has succeeded within this time. */
  boolean hasSucceededWithin(Duration time) {
    return System.nanoTime() - lastSuccess < time.toNanos();
  }

  /** Aborts the connections of statements that began before a nanoTime and exceed the age. */
  void abortBegunBefore(long instant, Duration age) {
    long now = System.nanoTime();
    running.forEach((connection, began) -> {
      boolean isOld = began - instant < 0 && now - began > age.toNanos();
      if (isOld && running.remove(connection, began)) {
        LOG.warn("A silent connection was closed, because the database answers on a new one");
        abort(connection);
      }
    });
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
