package org.plantstore.adapter.persistence.start;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that the server can keep the store's rules, and that the account has the rights that the
 * store needs, so that a start fails with a reason in an operator's words. Waits for a server that
 * does not answer yet.
 */
public record ServerCheck(DatabaseAccess access, boolean migrates) {

  private static final Logger LOG = LoggerFactory.getLogger(ServerCheck.class);
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final Duration LOG_PERIOD = Duration.ofSeconds(5);

  /**
   * A wrong account or password, a missing database, and a server that does not speak as {@code
   * sslmode} or the driver demands: waiting mends none.
   */
  private static final Set<String> LASTING_STATES =
      Set.of(PostgresFailure.ACCOUNT_REFUSED, "3D", "08004");

  private static final int OLDEST_SERVER = 14;
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** The schema is null if it is yet to be made, which the migration does. */
  private static final String QUESTIONS =
      """
      SELECT current_setting('server_encoding') AS encoding,
             pg_is_in_recovery() AS standby,
             current_setting('transaction_read_only') = 'on' AS read_only,
             current_schema() IS NULL
               OR to_regclass('plant') IS NOT NULL
               OR has_schema_privilege(current_schema(), 'CREATE') AS may_create,
             to_regclass('plant') IS NULL
               OR (has_table_privilege(to_regclass('plant')::oid, 'INSERT')
                 AND has_table_privilege(to_regclass('plant')::oid, 'SELECT')) AS may_use
      """;

  /**
   * Checks the server, and retries while it does not answer.
   *
   * @param patience how long to wait for an answer; zero for a single attempt
   * @throws ConfigurationException if the server does not answer in time, or cannot be used
   */
  public void run(Duration patience) {
    long began = System.nanoTime();
    long logged = began - LOG_PERIOD.toNanos();
    while (true) {
      try {
        ask();
        return;
      } catch (SQLException e) {
        PostgresFailure failure = new PostgresFailure(e);
        Duration waited = Duration.ofNanos(System.nanoTime() - began);
        boolean isWorthWaiting = isWorthWaiting(failure);
        if (!isWorthWaiting || waited.compareTo(patience) >= 0) {
          throw refusal(failure, isWorthWaiting ? patience : Duration.ZERO);
        }
        if (System.nanoTime() - logged >= LOG_PERIOD.toNanos()) {
          logged = System.nanoTime();
          LOG.warn(
              "The database is not there; waiting for it since {} s, for {} s at most: {}",
              waited.toSeconds(),
              patience.toSeconds(),
              failure.describe());
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private static boolean isWorthWaiting(PostgresFailure failure) {
    return failure.isTransient() && LASTING_STATES.stream().noneMatch(failure::hasState);
  }

  private static ConfigurationException refusal(PostgresFailure failure, Duration patience) {
    return new ConfigurationException(
        "the database cannot be used"
            + (patience.isZero() ? "" : ", not even after " + patience.toSeconds() + " s")
            + "; check DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and the server: "
            + failure.describe());
  }

  private void ask() throws SQLException {
    try (Connection connection =
        access.configure(new PGSimpleDataSource(), TIMEOUT).getConnection()) {
      requireVersion(connection.getMetaData().getDatabaseMajorVersion());
      try (Statement statement = connection.createStatement();
          ResultSet answers = statement.executeQuery(QUESTIONS)) {
        answers.next();
        requireUsable(answers);
      }
    }
  }

  static void requireVersion(int majorVersion) {
    require(
        majorVersion >= OLDEST_SERVER,
        "the database must be PostgreSQL " + OLDEST_SERVER + " or later, but is " + majorVersion);
  }

  private void requireUsable(ResultSet answers) throws SQLException {
    String encoding = answers.getString("encoding");
    require(
        encoding.equals("UTF8"),
        "the database must have the encoding UTF8 to keep every name, but has " + encoding);
    if (answers.getBoolean("standby")) {
      // It may be promoted, or the address lead to another one.
      throw new SQLException("the database is a standby", PostgresFailure.READ_ONLY);
    }
    require(
        !answers.getBoolean("read_only"),
        "the database must be writable for " + access.username() + ", but is read-only");
    require(
        !migrates || answers.getBoolean("may_create"),
        access.username() + " must be allowed to create the table plant in the database's schema");
    require(
        answers.getBoolean("may_use"),
        access.username() + " must be allowed to insert into and to select from the table plant");
  }

  private static void require(boolean condition, String message) {
    if (!condition) {
      throw new ConfigurationException(message);
    }
  }
}
