package org.plantstore.adapter.persistence;

import com.zaxxer.hikari.HikariDataSource;
import io.micronaut.context.annotation.Context;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.data.connection.jdbc.advice.DelegatingDataSource;
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
import javax.sql.DataSource;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes the database with a connection of the pool, which has one more than there are writers. So
 * a probe waits for a connection only if the database gives none. If a probe fails, the pool's
 * connections are evicted, which probably fail too. Safe for use by many threads.
 */
@Context
final class Readiness implements HealthIndicator {

  private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

  /** Without an answer for this time the database is unavailable. */
  private static final Duration LIMIT = Duration.ofSeconds(2);

  /** Less than 500 ms, for which the pool does not validate the connection again. */
  private static final Duration PERIOD = Duration.ofMillis(400);

  private final HikariDataSource pool;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(PostgresPlantStore.daemons("database-probe"));
  private volatile long answered = System.nanoTime();
  private boolean isReported;

  @SuppressWarnings("FutureReturnValueIgnored") // run() throws nothing
  Readiness(DataSource dataSource, StoreMetrics metrics) {
    pool = (HikariDataSource) DelegatingDataSource.unwrapDataSource(dataSource);
    // While readiness is off no request arrives, so no other metric shows an outage.
    metrics.gauge(
        "plant.store.database.up",
        "1 while the database is available, otherwise 0",
        this,
        readiness -> readiness.isUp() ? 1 : 0);
    executor.scheduleWithFixedDelay(this::run, 0, PERIOD.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Returns UP if a probe has succeeded, or this was created, within the last two seconds. */
  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.just(
        HealthResult.builder("database", isUp() ? HealthStatus.UP : HealthStatus.DOWN).build());
  }

  private boolean isUp() {
    return System.nanoTime() - answered < LIMIT.toNanos();
  }

  private void run() {
    String failure = null;
    try {
      probe();
      answered = System.nanoTime();
    } catch (SQLException e) {
      failure = new DatabaseFailure(e).describe();
      pool.getHikariPoolMXBean().softEvictConnections();
    } catch (RuntimeException | Error e) {
      failure = e.toString(); // such as no memory
    }
    if (failure != null && !isReported && !isUp()) {
      LOG.warn("The database is unavailable: {}", failure);
      isReported = true;
    } else if (failure == null && isReported) {
      LOG.info("The database is back");
      isReported = false;
    }
  }

  private void probe() throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      connection.setNetworkTimeout(Runnable::run, 1_000);
      try (ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
        row.next();
        if (row.getBoolean(1)) {
          throw new SQLException("the database is read-only", "25006");
        }
      }
    }
  }

  @PreDestroy
  void close() {
    executor.shutdownNow();
  }
}
