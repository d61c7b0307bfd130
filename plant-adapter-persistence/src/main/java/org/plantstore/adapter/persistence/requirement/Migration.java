package org.plantstore.adapter.persistence.requirement;

import io.micronaut.context.exceptions.ConfigurationException;
import java.time.Duration;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;

/**
 * Brings the tables up to date, on connections of its own, because a migration may take longer than
 * any create.
 *
 * @param access the database and the account
 * @param lockTimeout how long to wait for locked tables
 */
public record Migration(DatabaseAccess access, Duration lockTimeout) {

  /** The state where the table exists without its history, such as at a worker of Citus. */
  private static final String TABLE_EXISTS = "42P07";

  /** Longer than any statement of a migration, and than the migration of another instance. */
  private static final Duration STATEMENT_TIMEOUT = Duration.ofMinutes(10);

  /**
   * Migrates.
   *
   * @throws ConfigurationException if the migration fails
   */
  public void run() {
    try {
      Flyway.configure()
          .dataSource(access.dataSource(STATEMENT_TIMEOUT))
          .locations("classpath:org/plantstore/adapter/persistence")
          // The schema may have other tables.
          .baselineOnMigrate(true)
          .baselineVersion("0")
          .lockRetryCount(Math.toIntExact(STATEMENT_TIMEOUT.toSeconds())) // once a second
          // For afterConnect.sql.
          .placeholders(
              Map.of(
                  "statement_timeout", STATEMENT_TIMEOUT.toMillis() + "ms",
                  "lock_timeout", lockTimeout.toMillis() + "ms"))
          .load()
          .migrate();
    } catch (FlywayException e) {
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
