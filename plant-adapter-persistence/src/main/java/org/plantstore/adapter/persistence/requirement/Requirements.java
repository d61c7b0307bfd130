package org.plantstore.adapter.persistence.requirement;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
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
   * A wrong account or password, a missing database, and a server that does not speak as {@code
   * sslmode} or the driver demands: waiting mends none.
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
      List<Supplier<String>> requirements = new ArrayList<>();
      // Parameters of the address may be secret.
      requirements.add(() -> access.url().replaceFirst("\\?.*", "") + " answers");
      requirements.addAll(state.ofServer(migrates));
      requirements.add(() -> table(state, migrates));
      return requirements;
    } catch (SQLException e) {
      throw unusable("", new PostgresFailure(e));
    }
  }

  /**
   * Requires a server and an account that the store can use; waits for a server that does not
   * answer, or is a standby.
   *
   * @param limit how long to wait; zero for a single attempt
   * @throws ConfigurationException if the server does not answer in time, or cannot be used
   */
  public void awaitServer(Duration limit) {
    long began = System.nanoTime();
    long logged = began - LOG_PERIOD.toNanos();
    while (true) {
      try {
        requireServer();
        return;
      } catch (SQLException e) {
        PostgresFailure failure = new PostgresFailure(e);
        Duration waited = Duration.ofNanos(System.nanoTime() - began);
        if (!isWorthWaiting(failure)) {
          throw unusable("", failure);
        }
        if (waited.compareTo(limit) >= 0) {
          throw unusable(
              limit.isZero() ? "" : ", not even after " + limit.toSeconds() + " s", failure);
        }
        if (System.nanoTime() - logged >= LOG_PERIOD.toNanos()) {
          logged = System.nanoTime();
          LOG.warn(
              "The database is not there; waiting for it since {} s, for {} s at most: {}",
              waited.toSeconds(),
              limit.toSeconds(),
              failure.describe());
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  /**
   * Requires a table that the store can use.
   *
   * @throws ConfigurationException if there is none
   */
  public void requireTable() {
    try {
      table(DatabaseState.read(access), false);
    } catch (SQLException e) {
      throw new ConfigurationException(
          "the table plant cannot be checked: " + new PostgresFailure(e).describe());
    }
  }

  private void requireServer() throws SQLException {
    DatabaseState state = DatabaseState.read(access);
    if (state.isStandby()) {
      // It may be promoted, or the address lead to another one.
      throw new SQLException("the database is a standby", PostgresFailure.READ_ONLY);
    }
    List<String> findings = state.ofServer(migrates).stream().map(Supplier::get).toList();
    LOG.debug("Requirements on the database are met: {}", findings);
  }

  private String table(DatabaseState state, boolean migrates) {
    String finding = state.requireTable(migrates);
    if (state.hasCitus() && state.columns() != null) {
      new Distribution(access).require();
    }
    return finding;
  }

  private static boolean isWorthWaiting(PostgresFailure failure) {
    return failure.isTransient()
        && !failure.isCertificateFailure()
        && LASTING_STATES.stream().noneMatch(failure::hasState);
  }

  private static ConfigurationException unusable(String wait, PostgresFailure failure) {
    return new ConfigurationException(
        "the database cannot be used%s; check %s: %s"
            .formatted(
                wait,
                failure.isCertificateFailure()
                    ? "its certificate, and sslrootcert and the host in DATABASE_URL"
                    : "DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and the server",
                failure.describe()));
  }
}
