package org.plantstore.adapter.persistence;

import static org.plantstore.adapter.persistence.DatabaseStart.rows;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.output.ValidateOutput;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the tables up to date. Of several instances one migrates, and the others wait for it. */
final class DatabaseMigration {

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseMigration.class);

  /** Longer than any statement of a migration. */
  private static final Duration STATEMENT = Duration.ofMinutes(10);

  /** Added to the start's time-out, which may be 0, as the time for locked tables. */
  private static final Duration LEAST_PATIENCE = Duration.ofSeconds(2);

  /** Flyway's own lock does not cover the creation of its history. */
  private static final String LOCK =
      "SELECT 1 WHERE pg_try_advisory_lock(hashtext('plant-store migrate'))";

  /** The process of the session that has the lock, and whether a session of its instance works. */
  private static final String HOLDER =
      """
      SELECT holder.pid || CASE
        WHEN bool_or(session.state = 'active' OR now() - session.state_change < interval '2 s')
        THEN ', and works' ELSE ', and is idle' END
      FROM pg_locks JOIN pg_stat_activity holder USING (pid) JOIN pg_stat_activity session
        ON session.pid = holder.pid OR holder.application_name LIKE 'plant-store migration%'
          AND session.application_name = holder.application_name
      WHERE locktype = 'advisory' AND granted
        AND (classid::bigint << 32) + objid::bigint = hashtext('plant-store migrate')::bigint
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      GROUP BY holder.pid
      """;

  /**
   * Returns a row if there is a history, in the schema in which the migration creates the table.
   */
  private static final String HISTORY =
      "SELECT 1 WHERE to_regclass(quote_ident(current_schema()) || '.flyway_schema_history') IS NOT NULL";

  /** Returns a row for a history that does not fit the table or this store. */
  private static final String FAULTS = DatabaseStart.resource("faults-of-history.query");

  private final DatabaseConnections source;
  private final Duration patience;

  DatabaseMigration(DatabaseSettings settings) {
    patience = settings.startTimeout.plus(LEAST_PATIENCE);
    // All sessions of this migration have one name, by which others see whether it works.
    String name = "plant-store migration " + UUID.randomUUID();
    source = new DatabaseConnections(settings, name, 5, STATEMENT, STATEMENT, patience);
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

  private void awaitLock(Connection connection) throws SQLException {
    long worked = System.nanoTime();
    long logged = worked;
    while (rows(connection, LOCK).isEmpty()) {
      long now = System.nanoTime();
      String holder = String.join("", rows(connection, HOLDER));
      String state = "the tables are migrated by the session with process " + holder;
      if (!holder.endsWith("idle")) {
        worked = now;
      } else if (now - worked >= patience.toNanos()) {
        String end = "SELECT pg_terminate_backend(" + holder.replaceFirst(",.*", ")");
        throw new ConfigurationException(state + "; if its instance is gone, run " + end);
      }
      if (now - logged >= DatabaseStart.LOG_PERIOD.toNanos()) {
        logged = now;
        LOG.warn("The start waits, because {}", state);
      }
      LockSupport.parkNanos(DatabaseStart.PAUSE.toNanos());
    }
  }
}
