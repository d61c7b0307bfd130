package org.plantstore.adapter.persistence.database;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import jakarta.annotation.PreDestroy;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes the database twice a second on a connection of its own, so that readiness is known without
 * a connection of the pool. When the probe's connection falls silent, or leads to a standby, idle
 * connections of the pool are evicted; when there is a new one, statements that still wait for an
 * answer from before are aborted. Overlong statements are cancelled. Safe for use by many threads.
 */
@Context
final class DatabaseMonitor implements HealthIndicator, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseMonitor.class);
  private static final Duration PERIOD = Duration.ofMillis(500);

  /** The period while the database is away, so that its return is noticed at once. */
  private static final Duration PERIOD_WHILE_AWAY = Duration.ofMillis(50);

  private final RetryingDataSource connections;
  private final RunningStatements statements;
  private final DatabaseTimeouts timeouts;
  private final HikariDataSource pool;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "database-monitor");
        thread.setDaemon(true);
        return thread;
      });

  private @Nullable Connection connection;

  /** When {@link #connection} was opened, as a value of {@link System#nanoTime()}. */
  private long opened;

  /** When the last probe ended, likewise. */
  private long probed;

  /** When the first of the last failed probes ended, likewise; meaningful while they fail. */
  private long awaySince;

  private volatile boolean isThere = true;

  @SuppressWarnings("FutureReturnValueIgnored") // run() throws nothing
  DatabaseMonitor(
      ConnectionPool pool,
      RunningStatements statements,
      DatabaseTimeouts timeouts,
      DataSource dataSource,
      @Nullable MeterRegistry registry)
      throws SQLException {
    this.connections = pool.connections();
    this.statements = statements;
    this.timeouts = timeouts;
    this.pool = dataSource.unwrap(HikariDataSource.class);
    if (registry != null) {
      // While readiness is off nobody sends requests, so no other metric tells of an outage.
      Gauge.builder("plant.store.database.up", this, monitor -> monitor.isUp() ? 1 : 0)
          .description("1 while readiness has the database as up, otherwise 0")
          .register(registry);
    }
    executor.scheduleWithFixedDelay(
        this::run, 0, PERIOD_WHILE_AWAY.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Returns UP if the last probe, or a statement within the last two seconds, succeeded. */
  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.just(
        HealthResult.builder("database", isUp() ? HealthStatus.UP : HealthStatus.DOWN).build());
  }

  private boolean isUp() {
    return isThere || statements.hasSucceededWithin(PERIOD.multipliedBy(4));
  }

  private void run() {
    if (isThere && connection != null && System.nanoTime() - probed < PERIOD.toNanos()) {
      return;
    }
    try {
      probe();
      markThere();
    } catch (SQLException e) {
      markAway(new PostgresFailure(e).describe());
    } catch (RuntimeException | Error e) {
      // No memory for a thread, or a bug; an exception would end the schedule.
      markAway(e.toString());
    }
    probed = System.nanoTime();
  }

  private void probe() throws SQLException {
    if (connection != null) {
      checkConnection(connection);
    }
    if (connection == null) {
      connection = connections.connect();
      opened = System.nanoTime();
      connection.setNetworkTimeout(
          Runnable::run, Math.toIntExact(timeouts.signOfLife().toMillis()));
    }
    // In each probe: what was too young to be given up in the last one may not be by now. Whatever
    // is aborted needlessly is repeated, and finds itself.
    statements.abortBegunBefore(opened, timeouts.signOfLife());
    statements.cancelOlderThan(timeouts.statement());
    String failure = connections.lastFailure();
    if (failure != null && pool.getHikariPoolMXBean().getTotalConnections() == 0) {
      throw new SQLException("the store has no connection left: " + failure, "08001");
    }
  }

  /**
   * Closes the connection unless it answers and leads to a primary. If it fell silent, or leads to
   * a standby, idle connections of the pool do so too. One that the server has closed says nothing
   * about the others.
   */
  private void checkConnection(Connection connection) {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
      row.next();
      if (row.getString(1).equals("off")) {
        return;
      }
      pool.getHikariPoolMXBean().softEvictConnections();
    } catch (SQLException e) {
      if (e.getCause() instanceof SocketTimeoutException) {
        pool.getHikariPoolMXBean().softEvictConnections();
      }
    }
    disconnect();
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
    if (isThere && !executor.isShutdown()) {
      isThere = false;
      awaySince = System.nanoTime();
      LOG.warn("The database is away: {}", reason);
    }
  }

  private void disconnect() {
    if (connection != null) {
      RunningStatements.abort(connection);
      connection = null;
    }
  }

  /** Stops probing. */
  @Override
  @PreDestroy
  public void close() {
    executor.execute(this::disconnect);
    executor.shutdown();
  }
}
