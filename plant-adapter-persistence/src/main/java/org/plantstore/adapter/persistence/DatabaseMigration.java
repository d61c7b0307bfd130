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
 * Brings the tables up to date. If several instances start at the same time, one of them migrates
 * the tables while the others wait.
 */
final class DatabaseMigration {

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseMigration.class);

  /** The statement timeout, which is longer than any statement in a migration should take. */
  private static final Duration STATEMENT_TIMEOUT = Duration.ofMinutes(10);

  /** How long to wait for locked tables, in addition to the startup timeout. */
  private static final Duration EXTRA_LOCK_TIMEOUT = Duration.ofSeconds(2);

  /** Tries to acquire a lock, because Flyway's lock does not cover creating the history table. */
  private static final String LOCK =
      "SELECT 1 WHERE pg_try_advisory_lock(hashtext('plant-store migrate'))";

  /** A query that returns a row if the current schema contains a migration history. */
  private static final String HISTORY =
      "SELECT 1 WHERE to_regclass(quote_ident(current_schema()) || '.flyway_schema_history') IS NOT"
          + " NULL";

  /** A query that returns a row if the history does not match the table or the application. */
  private static final String FAULTS = DatabaseStart.resource("faults-of-history.query");

  private DatabaseMigration() {}

  /**
   * Migrates the tables.
   *
   * @throws SQLException if a later attempt may succeed
   * @throws ConfigurationException if a later attempt would fail too
   */
  static void run(DatabaseSettings settings) throws SQLException {
    Duration lockTimeout = settings.startTimeout.plus(EXTRA_LOCK_TIMEOUT);
    DatabaseConnections source =
        new DatabaseConnections(
            settings,
            "plant-store migration",
            5,
            STATEMENT_TIMEOUT,
            STATEMENT_TIMEOUT,
            lockTimeout);
    try (Connection connection = source.getConnection()) {
      awaitLock(connection);
      DatabaseStart.requireNone(faults(source, connection));
      call(source, Flyway::migrate);
    }
  }

  /**
   * Returns the reasons why a migration would fail, and any signs that the migration history
   * belongs to another application. Does not change the database.
   *
   * @throws SQLException if a later attempt may succeed
   * @throws ConfigurationException if the history cannot be read
   */
  static List<String> faults(DataSource source, Connection connection) throws SQLException {
    List<ValidateOutput> invalid = call(source, Flyway::validateWithResult).invalidMigrations;
    List<String> faults =
        rows(connection, HISTORY).isEmpty() ? List.of() : rows(connection, FAULTS);
    if (!faults.isEmpty()) {
      return faults;
    }
    return invalid.stream().map(DatabaseMigration::fault).toList();
  }

  private static String fault(ValidateOutput row) {
    String reason =
        row.errorDetails
            .errorMessage
            .replaceFirst("\\.?\n.*$", "") // removes Flyway's advice
            .replaceAll("\\s+", " ");
    return "the migration history does not match this version of the service; correct the row for"
        + (" version " + row.version + " in flyway_schema_history, or set DATABASE_MIGRATE to off")
        + (" to use the table as it is: " + reason);
  }

  private static <T> T call(DataSource source, Function<Flyway, T> command) throws SQLException {
    try {
      return command.apply(
          Flyway.configure()
              .dataSource(source)
              .locations("classpath:org/plantstore/adapter/persistence")
              .baselineOnMigrate(true) // because the schema may contain other tables
              .baselineVersion("0")
              .validateOnMigrate(false) // because faults() validates the history
              .ignoreMigrationPatterns("*:future", "*:pending")
              .load());
    } catch (FlywayException e) {
      DatabaseFailure failure = DatabaseFailure.in(e).orElse(null);
      // A lock timeout is not retried, because the migration has already waited long enough.
      if (failure != null
          && failure.isWorthWaiting()
          && !failure.hasState(DatabaseFailure.LOCKED)) {
        throw failure.cause;
      }
      throw new ConfigurationException(
          "the database tables cannot be brought up to date: "
              + (failure == null ? e.getMessage() : failure.describe() + failure.remedy()));
    }
  }

  /** Waits for the lock indefinitely, because migrating a large table may take a long time. */
  private static void awaitLock(Connection connection) throws SQLException {
    long logged = System.nanoTime();
    while (rows(connection, LOCK).isEmpty()) {
      if (System.nanoTime() - logged >= DatabaseStart.LOG_PERIOD.toNanos()) {
        logged = System.nanoTime();
        LOG.warn("Startup is waiting because another instance is migrating the tables");
      }
      DatabaseStart.pause();
    }
  }
}
