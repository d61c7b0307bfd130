package org.plantstore.adapter.persistence.database;

import com.zaxxer.hikari.HikariDataSource;
import io.micronaut.context.annotation.Context;
import jakarta.annotation.PreDestroy;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the database twice a second whether it is there, on a connection of its own: so health
 * probes are answered at once and take none of the pool's connections. When this connection falls
 * silent, or leads to a standby, the pool's idle ones are dropped, because each would be waited for
 * in vain; when there is a new one, those that still wait for an answer from before are cut. What
 * takes longer than it may is cancelled. Safe for use by many threads.
 */
@Context
final class DatabaseMonitor implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseMonitor.class);
  private static final Duration PERIOD = Duration.ofMillis(500);

  /** While the database is away the connector is asked to go on at once. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final Connector connector;
  private final DatabaseTraffic traffic;
  private final DatabaseTimeouts timeouts;
  private final HikariDataSource pool;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread = new Thread(this::watch, "database-monitor");

  private @Nullable Connection connection;

  /** Whether the last connection that failed had fallen silent, or led to a standby. */
  private boolean misleads;

  /** When {@link #connection} was opened, as a value of {@link System#nanoTime()}. */
  private long opened;

  /** When the database was found to be away, likewise; meaningful while it is. */
  private long awaySince;

  private volatile boolean isThere = true;

  DatabaseMonitor(
      Connector connector, DatabaseTraffic traffic, DatabaseTimeouts timeouts, DataSource pool)
      throws SQLException {
    this.connector = connector;
    this.traffic = traffic;
    this.timeouts = timeouts;
    this.pool = pool.unwrap(HikariDataSource.class);
    thread.setDaemon(true);
    thread.start();
  }

  /** Says whether the database has answered last time, or answers the store just now. */
  boolean isThere() {
    return isThere || traffic.hasBeenAnsweredWithin(PERIOD.multipliedBy(4));
  }

  private void watch() {
    try {
      do {
        try {
          probe();
          markThere();
        } catch (SQLException e) {
          markAway(new PostgresFailure(e).describe());
        } catch (RuntimeException | Error e) {
          // No memory for a thread, or a bug; without this one the readiness would stay as it is.
          markAway(e.toString());
        }
      } while (!closing.await((isThere ? PERIOD : PAUSE).toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      LOG.debug("The database is no longer watched", e);
    } finally {
      disconnect();
    }
  }

  private void probe() throws SQLException {
    if (connection != null && !answers(connection)) {
      disconnect();
      if (misleads) {
        pool.getHikariPoolMXBean().softEvictConnections();
      }
    }
    if (connection == null) {
      // Once it counts as away, a server that takes its time to let anybody in is waited for.
      connection =
          connector.open(isThere ? timeouts.signOfLife().multipliedBy(2) : timeouts.answer());
      opened = System.nanoTime();
      connection.setNetworkTimeout(
          Runnable::run, Math.toIntExact(timeouts.signOfLife().toMillis()));
    }
    // In each probe: what was too young to be given up in the last one may not be by now. Whatever
    // is cut needlessly is tried again, and finds itself.
    traffic.cutOffBegunBefore(opened, timeouts.signOfLife());
    traffic.cancelOlderThan(timeouts.statement());
    String trouble = connector.trouble();
    if (trouble != null && pool.getHikariPoolMXBean().getTotalConnections() == 0) {
      throw new SQLException("the store has no connection left: " + trouble, "08001");
    }
  }

  /**
   * Also finds out whether others like this connection, which are idle, would be waited for in
   * vain. One that the server has closed says nothing about them: it may have been meant alone.
   */
  private boolean answers(Connection connection) {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
      misleads = !(row.next() && row.getString(1).equals("off"));
      return !misleads;
    } catch (SQLException e) {
      misleads = e.getCause() instanceof SocketTimeoutException;
      return false;
    }
  }

  private void markThere() {
    if (!isThere) {
      isThere = true;
      LOG.info(
          "The database is back, {} s after it was found to be away",
          TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - awaySince));
    }
  }

  private void markAway(String reason) {
    if (isThere) {
      isThere = false;
      awaySince = System.nanoTime();
      LOG.warn("The database is away: {}", reason);
    }
  }

  private void disconnect() {
    if (connection != null) {
      DatabaseTraffic.abort(connection);
      connection = null;
    }
  }

  /** Watches no longer. */
  @Override
  @PreDestroy
  public void close() {
    closing.countDown();
    thread.interrupt();
  }
}
