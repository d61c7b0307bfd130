package org.plantstore.adapter.persistence.database;

import com.zaxxer.hikari.HikariPoolMXBean;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import jakarta.annotation.PreDestroy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes the database on its own connection, so that readiness is known while the pool is
 * exhausted. If a probe fails or reaches a standby, the pool's idle connections are evicted. After
 * a probe has opened a new connection, statements that began earlier and have run for 1 s are
 * aborted. Overlong statements are cancelled. Safe for use by many threads.
 */
@Context
final class DatabaseMonitor implements HealthIndicator {

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseMonitor.class);

  private final RetryingDataSource source;
  private final HikariPoolMXBean pool;
  private final RunningStatements statements;
  private final DatabaseTimeouts timeouts;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "database-monitor");
        thread.setDaemon(true);
        return thread;
      });

  /** The connection of the probes, used only by the executor's thread. */
  private @Nullable Connection connection;

  /** When the connection was opened, as a value of {@link System#nanoTime()}. */
  private long opened;

  private volatile boolean lastProbeSucceeded = true;

  @SuppressWarnings("FutureReturnValueIgnored") // run() throws nothing
  DatabaseMonitor(
      ConnectionPool pool, RunningStatements statements, @Nullable MeterRegistry registry) {
    this.source = pool.source;
    this.pool = pool.pool().getHikariPoolMXBean();
    this.statements = statements;
    this.timeouts = pool.timeouts;
    if (registry != null) {
      // While readiness is off no request arrives, so no other metric shows an outage.
      Gauge.builder("plant.store.database.up", this, monitor -> monitor.isUp() ? 1 : 0)
          .description("1 while the database is available, otherwise 0")
          .register(registry);
    }
    executor.scheduleWithFixedDelay(this::run, 0, 250, TimeUnit.MILLISECONDS);
  }

  /** Returns UP if the last probe, or a statement within the last two seconds, succeeded. */
  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.just(
        HealthResult.builder("database", isUp() ? HealthStatus.UP : HealthStatus.DOWN).build());
  }

  private boolean isUp() {
    return lastProbeSucceeded || statements.hasSucceededWithin(Duration.ofSeconds(2));
  }

  private void run() {
    String failure = null;
    try {
      probe();
    } catch (SQLException e) {
      failure = new PostgresFailure(e).describe();
    } catch (RuntimeException | Error e) {
      failure = e.toString(); // such as no thread left; an exception would end the schedule
    }
    boolean hadSucceeded = lastProbeSucceeded;
    lastProbeSucceeded = failure == null;
    if (hadSucceeded && failure != null) {
      LOG.warn("The database is unavailable: {}", failure);
    } else if (!hadSucceeded && failure == null) {
      LOG.info("The database is back");
    }
  }

  private void probe() throws SQLException {
    if (connection != null && !leadsToPrimary(connection)) {
      pool.softEvictConnections();
      disconnect();
    }
    if (connection == null) {
      connection = source.attempt();
      opened = System.nanoTime();
      connection.setNetworkTimeout(
          Runnable::run, Math.toIntExact(DatabaseTimeouts.PROBE.toMillis()));
    }
    // In each probe, because a statement may have been too young in the last one. A needless abort
    // is harmless: the batch is retried, and finds its rows.
    statements.abortBegunBefore(opened, DatabaseTimeouts.PROBE);
    statements.cancelOlderThan(timeouts.statement());
    String failure = source.lastFailure();
    if (failure != null && pool.getTotalConnections() == 0) {
      throw new SQLException("the store has no connection left: " + failure, "08001");
    }
  }

  private static boolean leadsToPrimary(Connection connection) {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
      return row.next() && row.getString(1).equals("off");
    } catch (SQLException e) {
      return false;
    }
  }

  private void disconnect() {
    if (connection != null) {
      RunningStatements.abort(connection);
      connection = null;
    }
  }

  @PreDestroy
  void close() {
    executor.execute(this::disconnect);
    executor.shutdown();
  }
}
