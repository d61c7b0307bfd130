package org.plantstore.adapter.persistence.requirement;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.plantstore.adapter.persistence.database.PostgresFailure;

/** Brings the tables up to date, on its own connections: a migration may outlast any create. */
final class Migration {

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
   * Migrates, and returns the state afterwards. Of several instances one migrates, and the others
   * wait for it.
   *
   * @param lockTimeout how long to wait for locked tables
   * @throws ConfigurationException if the migration fails
   */
  static DatabaseState run(DatabaseState state, Duration lockTimeout) {
    DataSource source = state.access().dataSource(STATEMENT_TIMEOUT);
    try (Connection connection = source.getConnection();
        Statement lock = connection.createStatement()) {
      lock.execute(LOCK);
      Flyway flyway = flyway(source, lockTimeout);
      requireOwnHistory(state, flyway);
      flyway.migrate();
      return DatabaseState.read(state.access());
    } catch (SQLException | FlywayException e) {
      throw new ConfigurationException(
          "the tables of the database cannot be brought up to date: "
              + PostgresFailure.in(e).map(PostgresFailure::describe).orElse(e.getMessage()));
    }
  }

  /**
   * Requires a history of this store or none, and changes nothing.
   *
   * @throws ConfigurationException if the schema has the history of another application, or a table
   *     that no migration has created
   */
  static void requireOwnHistory(DatabaseState state) {
    Duration timeout = DatabaseState.TIMEOUT;
    requireOwnHistory(state, flyway(state.access().dataSource(timeout), timeout));
  }

  private static Flyway flyway(DataSource source, Duration lockTimeout) {
    return Flyway.configure()
        .dataSource(source)
        .locations("classpath:org/plantstore/adapter/persistence/requirement")
        // The schema may have other tables.
        .baselineOnMigrate(true)
        .baselineVersion("0")
        // For afterConnect.sql.
        .placeholders(
            Map.of(
                "statement_timeout", STATEMENT_TIMEOUT.toMillis() + "ms",
                "lock_timeout", lockTimeout.toMillis() + "ms"))
        .load();
  }

  private static void requireOwnHistory(DatabaseState state, Flyway flyway) {
    List<MigrationInfo> history = List.of(flyway.info().applied());
    boolean isOwn = history.stream().anyMatch(each -> each.getScript().equals("V1__plant.sql"));
    // Flyway's own entries, such as "0<< Flyway Baseline >>", come before the first.
    boolean isEmpty =
        history.stream()
            .allMatch(each -> (each.getVersion() + each.getDescription()).matches("(0|null)<<.*"));
    if (!isOwn && !isEmpty) {
      throw new ConfigurationException(
          "the schema has another application's history of migrations" + DatabaseState.WAYS_OUT);
    }
    if (!isOwn && state.table() != null && state.isInSchema()) {
      throw new ConfigurationException(
          "the table plant has no history; set DATABASE_MIGRATE to off to use it");
    }
  }
}
