package org.plantstore.adapter.persistence;

import jakarta.inject.Singleton;
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
final class RunningStatements {

  private static final Logger LOG = LoggerFactory.getLogger(RunningStatements.class);

  private record Running(PreparedStatement statement, long began) {}

  private final Duration timeout;
  private final Set<Running> running = ConcurrentHashMap.newKeySet();

  RunningStatements(DatabaseSettings settings) {
    this.timeout = settings.statementTimeout;
  }

  /** Executes a query, and reads its whole result into memory. */
  ResultSet execute(PreparedStatement query) throws SQLException {
    Running entry = new Running(query, System.nanoTime());
    running.add(entry);
    try {
      return query.executeQuery();
    } finally {
      running.remove(entry);
    }
  }

  /**
   * Asks the server to cancel statements that exceed their time-out. The server's own time-out does
   * not apply while a commit waits for a standby. Later statements of a connection are not
   * affected.
   */
  void cancelOverdue() {
    long now = System.nanoTime();
    running.removeIf(entry -> now - entry.began > timeout.toNanos() && cancel(entry.statement));
  }

  /** Uses a thread, because it waits for the network. */
  private static boolean cancel(PreparedStatement statement) {
    Thread thread =
        new Thread(
            () -> {
              try {
                statement.cancel();
              } catch (SQLException e) {
                LOG.debug("The statement cannot be cancelled", e);
              }
            },
            "plant-cancel");
    thread.setDaemon(true);
    thread.start();
    return true;
  }
}
