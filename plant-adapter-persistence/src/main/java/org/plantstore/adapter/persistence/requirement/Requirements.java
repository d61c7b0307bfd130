package org.plantstore.adapter.persistence.requirement;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.flywaydb.core.api.FlywayException;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requirements of the store on the database. Each returns its finding, or throws {@link
 * ConfigurationException} with the remedy.
 *
 * @param access the database and the account
 * @param migrates whether the account creates the tables, or changes them
 */
public record Requirements(DatabaseAccess access, boolean migrates) {

  private static final Logger LOG = LoggerFactory.getLogger(Requirements.class);
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final Duration LOG_PERIOD = Duration.ofSeconds(5);

  /**
   * Failures that waiting does not resolve: a wrong account or password, a missing database, and a
   * server without the TLS that {@code sslmode} demands, or with another protocol.
   */
  private static final Set<String> LASTING_STATES =
      Set.of(PostgresFailure.ACCOUNT_REFUSED, "3D", "08004");

  /**
   * Returns all requirements on the database as it is now, in the order of their correction.
   *
   * @throws ConfigurationException if the server does not answer
   */
  public List<Supplier<String>> all() {
    try {
      DatabaseState state = DatabaseState.read(access);
      List<Supplier<String>> requirements = new ArrayList<>(state.ofServer(migrates));
      requirements.add(() -> migrates ? requireMigratable(state) : state.requireTable());
      return requirements;
    } catch (SQLException e) {
      throw unusable("", new PostgresFailure(e));
    }
  }

  /**
   * Waits for a server that does not answer or is a standby, brings the tables up to date if the
   * account migrates, and requires all that the store needs.
   *
   * @param limit how long to wait; zero for a single attempt
   * @throws ConfigurationException if a requirement is not met
   */
  public void prepare(Duration limit) {
    DatabaseState state = awaitServer(limit);
    // At least 2 s, so that a start with a limit of 0 s still waits for locked tables.
    Duration lockTimeout = Duration.ofSeconds(Math.max(limit.toSeconds(), 2));
    (migrates ? Migration.run(state, lockTimeout) : state).requireTable();
  }

  private DatabaseState awaitServer(Duration limit) {
    long began = System.nanoTime();
    long logged = began - LOG_PERIOD.toNanos();
    while (true) {
      try {
        return requireServer();
      } catch (SQLException e) {
        PostgresFailure failure = new PostgresFailure(e);
        Duration waited = Duration.ofNanos(System.nanoTime() - began);
        if (limit.isZero() || !isWorthWaiting(failure)) {
          throw unusable("", failure);
        }
        if (waited.compareTo(limit) >= 0) {
          throw unusable(", not even after " + limit.toSeconds() + " s", failure);
        }
        if (System.nanoTime() - logged >= LOG_PERIOD.toNanos()) {
          logged = System.nanoTime();
          LOG.warn(
              "The database is unavailable; the start has waited for {} s of {} s: {}",
              waited.toSeconds(),
              limit.toSeconds(),
              failure.describe());
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private DatabaseState requireServer() throws SQLException {
    DatabaseState state = DatabaseState.read(access);
    if (state.isStandby()) {
      // The standby may be promoted, or the address may change.
      throw new SQLException("the database is a standby", PostgresFailure.READ_ONLY);
    }
    List<String> findings = state.ofServer(migrates).stream().map(Supplier::get).toList();
    if (migrates) {
      state.requireTableOrFree(); // before the migration leaves its history in the schema of others
    }
    LOG.debug("Requirements on the database are met: {}", findings);
    return state;
  }

  private static String requireMigratable(DatabaseState state) {
    try {
      String finding = state.requireTableOrFree();
      Migration.requireOwnHistory(state);
      return finding;
    } catch (FlywayException e) {
      String reason = PostgresFailure.in(e).map(PostgresFailure::describe).orElse(e.getMessage());
      throw new ConfigurationException("the table plant cannot be checked: " + reason);
    }
  }

  private static boolean isWorthWaiting(PostgresFailure failure) {
    return failure.isTransient()
        && !failure.isOfParameters()
        && LASTING_STATES.stream().noneMatch(failure::hasState);
  }

  private static ConfigurationException unusable(String wait, PostgresFailure failure) {
    String settings =
        failure.isOfParameters()
            ? "its certificate, and the host and the parameters in DATABASE_URL"
            : "DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and the server";
    return new ConfigurationException(
        "the database cannot be used" + wait + "; check " + settings + ": " + failure.describe());
  }
}
