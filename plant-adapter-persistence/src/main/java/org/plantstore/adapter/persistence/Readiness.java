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
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes the database through the connection pool. The pool can usually hold one more connection
 * than there are writers, so a probe has to wait only if the database rejects new connections. In a
 * Citus cluster with at least {@code DATABASE_CONNECTIONS} nodes, however, the writers can use
 * every connection in the pool. If a probe fails, the pool's connections are evicted, because they
 * have probably failed too. This class is thread-safe.
 */
@Context
final class Readiness implements HealthIndicator {

  private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

  /** The database counts as unavailable if no probe has succeeded for this long. */
  private static final Duration LIMIT = Duration.ofSeconds(2);

  /**
   * The pause between probes. If a connection has been idle for more than 500 ms, the pool
   * validates it before the next use.
   */
  private static final Duration PERIOD = Duration.ofMillis(400);

  private final HikariDataSource pool;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(PostgresPlantStore.daemons("database-probe"));
  private volatile long lastSuccess = System.nanoTime();
  private boolean isReported;

  @SuppressWarnings("FutureReturnValueIgnored") // run() throws no exception
  Readiness(DataSource dataSource, StoreMetrics metrics) {
    pool = (HikariDataSource) DelegatingDataSource.unwrapDataSource(dataSource);
    // Only this metric shows an outage, because no requests arrive while readiness probes fail.
    metrics.gauge(
        "plant.store.database.up",
        "1 while the database is available, otherwise 0",
        this,
        readiness -> readiness.isUp() ? 1 : 0);
    executor.scheduleWithFixedDelay(this::run, 0, PERIOD.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Returns UP if a probe succeeded, or the service started, within the last two seconds. */
  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.just(
        HealthResult.builder("database", isUp() ? HealthStatus.UP : HealthStatus.DOWN).build());
  }

  private boolean isUp() {
    return System.nanoTime() - lastSuccess < LIMIT.toNanos();
  }

  private void run() {
    try {
      String failure = probe();
      if (failure == null) {
        lastSuccess = System.nanoTime();
      }
      report(failure);
    } catch (RuntimeException | Error e) {
      // Ignored, because an exception would end the periodic probes. Even reporting a failure can
      // fail if memory runs out.
    }
  }

  /** Returns the reason why the database is unavailable, or null if it is available. */
  private @Nullable String probe() {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      connection.setNetworkTimeout(Runnable::run, 1_000);
      try (ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
        row.next();
        if (row.getBoolean(1)) {
          throw new SQLException("the database is read-only", DatabaseFailure.READ_ONLY);
        }
        return null;
      }
    } catch (SQLException e) {
      pool.getHikariPoolMXBean().softEvictConnections();
      return new DatabaseFailure(e).describe();
    } catch (RuntimeException | Error e) {
      return e.toString();
    }
  }

  private void report(@Nullable String failure) {
    if (failure != null && !isReported && !isUp()) {
      LOG.warn("The database is unavailable: {}", failure);
      isReported = true;
    } else if (failure == null && isReported) {
      LOG.info("The database is available again");
      isReported = false;
    }
  }

  @PreDestroy
  void close() {
    executor.shutdownNow();
  }
}
