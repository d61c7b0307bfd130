package org.plantstore.adapter.persistence.requirement;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;

/**
 * Brings the tables up to date, on connections of its own, because a migration may take longer than
 * any create.
 */
final class Migration {

  /** The state where the table exists without its history, such as at a worker of Citus. */
  private static final String TABLE_EXISTS = "42P07";

  /** Longer than any statement of a migration, and than the migration of another instance. */
  private static final Duration STATEMENT_TIMEOUT = Duration.ofMinutes(10);

  /** Flyway's own lock does not cover the creation of its history. */
  private static final String LOCK =
      """
      SET statement_timeout = 0;
      SET lock_timeout = 0;
      SELECT pg_advisory_lock(hashtext('plant-store migrate'))
      """;

  private Migration() {}

  /**
   * Migrates. Of several instances one migrates, and the others wait for it.
   *
   * @param lockTimeout how long to wait for locked tables
   * @throws ConfigurationException if the migration fails
   */
  static void run(DatabaseAccess access, Duration lockTimeout) {
    DataSource source = access.dataSource(STATEMENT_TIMEOUT);
    try (Connection connection = source.getConnection();
        Statement lock = connection.createStatement()) {
      lock.execute(LOCK);
      Flyway.configure()
          .dataSource(source)
          .locations("classpath:org/plantstore/adapter/persistence")
          // The schema may have other tables.
          .baselineOnMigrate(true)
          .baselineVersion("0")
          // For afterConnect.sql.
          .placeholders(
              Map.of(
                  "statement_timeout", STATEMENT_TIMEOUT.toMillis() + "ms",
                  "lock_timeout", lockTimeout.toMillis() + "ms"))
          .load()
          .migrate();
    } catch (SQLException | FlywayException e) {
      throw new ConfigurationException(
          "the tables of the database cannot be brought up to date: "
              + PostgresFailure.in(e).map(Migration::describe).orElse(e.getMessage()));
    }
  }

  private static String describe(PostgresFailure failure) {
    return failure.describe()
        + (failure.hasState(TABLE_EXISTS) ? "; start with DATABASE_MIGRATE=off to use it" : "");
  }
}
