package org.plantstore.adapter.persistence;

import static org.plantstore.adapter.persistence.DatabaseStart.rows;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.output.ValidateOutput;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tables up to date. If several instances start, one of them migrates, and the others
 * wait for it.
 */
final class DatabaseMigration {

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseMigration.class);

  /** Longer than any statement of a migration. */
  private static final Duration STATEMENT = Duration.ofMinutes(10);

  /** The minimum time to wait for locked tables, because the startup's time-out may be 0. */
  private static final Duration LEAST_PATIENCE = Duration.ofSeconds(2);

  /** Held during a migration, because Flyway's own lock does not cover creating its history. */
  private static final String LOCK =
      "SELECT 1 WHERE pg_try_advisory_lock(hashtext('plant-store migrate'))";

  /**
   * Returns a row if there is a history, in the schema in which the migration creates the table.
   */
  private static final String HISTORY =
      "SELECT 1 WHERE to_regclass(quote_ident(current_schema()) || '.flyway_schema_history') IS NOT"
          + " NULL";

  /** Returns a row for a history that does not fit the table or this store. */
  private static final String FAULTS = DatabaseStart.resource("faults-of-history.query");

  private final DatabaseConnections source;

  DatabaseMigration(DatabaseSettings settings) {
    Duration patience = settings.startTimeout.plus(LEAST_PATIENCE);
    source =
        new DatabaseConnections(
            settings, "plant-store migration", 5, STATEMENT, STATEMENT, patience);
  }

  /**
   * Migrates.
   *
   * @throws SQLException if that may succeed later
   * @throws ConfigurationException if the migration fails
   */
  void run() throws SQLException {
    try (Connection connection = source.getConnection()) {
      awaitLock(connection);
      DatabaseStart.requireNone(faults(source, connection));
      call(source, Flyway::migrate);
    }
  }

  /**
   * Returns why a migration would fail, or continue another application's history. Changes nothing.
   *
   * @throws SQLException if the database may answer later
   * @throws ConfigurationException if the history cannot be read
   */
  static List<String> faults(DataSource source, Connection connection) throws SQLException {
    List<ValidateOutput> invalid = call(source, Flyway::validateWithResult).invalidMigrations;
    List<String> faults =
        rows(connection, HISTORY).isEmpty() ? List.of() : rows(connection, FAULTS);
    if (!faults.isEmpty()) {
      return faults;
    }
    return invalid.stream()
        .map(each -> each.errorDetails.errorMessage)
        .map(message -> message.replaceFirst("\\.?\n.*$", "")) // without Flyway's advice
        .map(message ->
            "flyway_schema_history: "
                + message.replaceAll("\\s+", " ")
                + "; change that row so that success is true and its values are those resolved"
                + " locally, or set DATABASE_MIGRATE to off to use the table as it is")
        .toList();
  }

  private static <T> T call(DataSource source, Function<Flyway, T> command) throws SQLException {
    try {
      return command.apply(
          Flyway.configure()
              .dataSource(source)
              .locations("classpath:org/plantstore/adapter/persistence")
              .baselineOnMigrate(true) // the schema may have other tables
              .baselineVersion("0")
              .validateOnMigrate(false) // faults() has validated the history
              .ignoreMigrationPatterns("*:future", "*:pending")
              .load());
    } catch (FlywayException e) {
      DatabaseFailure failure = DatabaseFailure.in(e).orElse(null);
      // A locked table has been waited for.
      if (failure != null && failure.isWorthWaiting() && !failure.isOf(DatabaseFailure.LOCKED)) {
        throw failure.cause;
      }
      throw new ConfigurationException(
          "the tables of the database cannot be brought up to date: "
              + (failure == null ? e.getMessage() : failure.describe()));
    }
  }

  /** Waits without a limit, because a migration of a large table may take long. */
  private static void awaitLock(Connection connection) throws SQLException {
    long logged = System.nanoTime();
    while (rows(connection, LOCK).isEmpty()) {
      if (System.nanoTime() - logged >= DatabaseStart.LOG_PERIOD.toNanos()) {
        logged = System.nanoTime();
        LOG.warn("The start waits, because another instance migrates the tables");
      }
      DatabaseStart.pause();
    }
  }
}
