package org.plantstore.adapter.persistence;

import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.PlantQueue;
import org.plantstore.adapter.persistence.citus.Distribution;
import org.plantstore.adapter.persistence.citus.ShardedQueue;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.plantstore.adapter.persistence.database.RunningStatements;

/**
 * Decides once, at the start, how the store's plants reach the database. The only class that refers
 * to the package {@code citus}.
 */
@Factory
final class PlantQueues {

  /** The property in which a start passes on its finding. */
  static final String HAS_CITUS = "database.citus";

  @Singleton
  @Bean(preDestroy = "close")
  PlantQueue queue(
      JdbcOperations database,
      ConnectionPool pool,
      RunningStatements statements,
      @Property(name = HAS_CITUS) boolean hasCitus,
      @Property(name = ConnectionPool.DEADLINE) int seconds,
      @Nullable MeterRegistry registry) {
    StoreMetrics metrics = new StoreMetrics(registry);
    // Citus sends rows to their shard directly, but elements of arrays through the coordinator.
    PlantTable.Form form = hasCitus ? PlantTable.Form.ROWS : PlantTable.Form.ARRAYS;
    GroupCommit.Table table = metrics.measured(new PlantTable(database, statements, form));
    Duration timeout = Duration.ofSeconds(seconds);
    return metrics.measured(
        hasCitus
            ? new ShardedQueue(table, database, pool, timeout, metrics.counts)
            : new GroupCommit(table, timeout, metrics.counts));
  }

  /**
   * Requires a distribution of the table that keeps the store's rules, if the database has Citus.
   *
   * @return whether the database has Citus
   * @throws ConfigurationException if the distribution does not keep the rules
   */
  static boolean requireDistribution(DatabaseAccess access) {
    try (Connection connection = access.dataSource(Duration.ofSeconds(10)).getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT to_regclass('pg_dist_partition') IS NOT NULL")) {
      row.next();
      boolean hasCitus = row.getBoolean(1);
      if (hasCitus) {
        new Distribution(access.username()).require(connection);
      }
      return hasCitus;
    } catch (SQLException e) {
      throw new ConfigurationException(
          "the table plant cannot be checked: " + new PostgresFailure(e).describe());
    }
  }
}
