package org.plantstore.adapter.persistence;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.data.jdbc.runtime.ConnectionCallback;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the database during startup. Waits until the database is available, brings the tables up
 * to date, and rejects a table that would silently lose or change plants. If the database becomes
 * unavailable during the preparation, the preparation starts over. Startup fails if the database is
 * still unavailable when startup times out.
 */
record DatabaseStart(DatabaseSettings settings, boolean migrates) {

  private static final Duration PAUSE = Duration.ofMillis(500);
  static final Duration LOG_PERIOD = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseStart.class);

  /** The timeout for each response. On a slow CPU, a TLS handshake can take several seconds. */
  private static final Duration RESPONSE = Duration.ofSeconds(5);

  /** The server-side timeout for each query and each lock wait. It is shorter than RESPONSE. */
  private static final Duration QUERY = Duration.ofSeconds(4);

  private static final String FAULTS = resource("faults.query");

  /** A query that returns a row if the table is in the schema where a migration would create it. */
  private static final String TABLE =
      "SELECT 1 FROM pg_class WHERE oid = to_regclass(quote_ident(current_schema()) || '.plant')";

  static String resource(String name) {
    try (InputStream file = requireNonNull(DatabaseStart.class.getResourceAsStream(name))) {
      return new String(file.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Migrates the tables if this instance is configured to do so, and then checks the database.
   *
   * @return whether the database contains Citus
   * @throws ConfigurationException if the database cannot be used by the end of the startup timeout
   */
  boolean prepare() {
    return await(
        settings.startTimeout,
        connection -> {
          requireNone(faults(connection, migrates));
          if (migrates) {
            DatabaseMigration.run(settings);
            requireNone(faults(connection, false));
          }
          return Shards.isCitusIn(connection);
        });
  }

  /**
   * Returns the problems that would currently make startup fail. Does not change the database, and
   * waits for it only while {@link DatabaseConnections#getConnection} retries.
   *
   * @throws ConfigurationException if the database cannot be used
   */
  List<String> check() {
    return await(
        Duration.ZERO,
        connection -> {
          List<String> faults = faults(connection, migrates);
          if (migrates && faults.isEmpty()) {
            faults = DatabaseMigration.faults(connections(), connection);
          }
          boolean tableExists = migrates && faults.isEmpty() && !rows(connection, TABLE).isEmpty();
          return tableExists ? faults(connection, false) : faults;
        });
  }

  static void requireNone(List<String> faults) {
    if (!faults.isEmpty()) {
      throw new ConfigurationException(String.join("; also ", faults));
    }
  }

  private static List<String> faults(Connection connection, boolean migrates) throws SQLException {
    List<String> faults = rows(connection, FAULTS.replace("<migrates>", "" + migrates));
    if (!faults.isEmpty() || migrates) {
      return faults;
    }
    faults = Shards.faults(connection);
    return faults.isEmpty() ? trial(connection) : faults;
  }

  private <T> T await(Duration limit, ConnectionCallback<T> work) {
    DatabaseConnections source = connections();
    long began = System.nanoTime();
    long logged = began - LOG_PERIOD.toNanos();
    while (true) {
      try (Connection connection = source.getConnection()) {
        requirePrimary(connection);
        requireSession(connection, source);
        return work.call(connection);
      } catch (SQLException e) {
        DatabaseFailure failure = new DatabaseFailure(e);
        Duration waited = Duration.ofNanos(System.nanoTime() - began);
        if (!failure.isWorthWaiting() || waited.compareTo(limit) >= 0) {
          throw failure.asStartupReason();
        }
        if (System.nanoTime() - logged >= LOG_PERIOD.toNanos()) {
          logged = System.nanoTime();
          LOG.warn(
              "The database is unavailable; startup has been waiting for {} s (limit: {} s): {}",
              waited.toSeconds(),
              limit.toSeconds(),
              failure.describe());
        }
        pause();
      }
    }
  }

  static void pause() {
    try {
      Thread.sleep(PAUSE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ConfigurationException("interrupted while waiting for the database");
    }
  }

  /** Returns a data source that also accepts read-only servers, so that startup can report them. */
  private DatabaseConnections connections() {
    DatabaseConnections source =
        new DatabaseConnections(settings, "plant-store", 5, RESPONSE, QUERY, QUERY);
    source.setTargetServerType("preferPrimary");
    return source;
  }

  private static void requirePrimary(Connection connection) throws SQLException {
    // If default_transaction_read_only is on, this check passes, and faults() reports the setting.
    String standby =
        "SELECT 1 WHERE pg_is_in_recovery() AND current_setting('default_transaction_read_only') ="
            + " 'off'";
    if (!rows(connection, standby).isEmpty()) {
      throw new SQLException(
          "DATABASE_URL reaches only a standby; add the primary's host", DatabaseFailure.READ_ONLY);
    }
  }

  /** Returns the reason why the server cannot plan the store's statements, if there is one. */
  private static List<String> trial(Connection connection) throws SQLException {
    try {
      // EXPLAIN fires no triggers. Citus plans these statements without connecting to other nodes.
      rows(connection, "EXPLAIN " + PlantTable.TRIAL);
      rows(connection, "EXPLAIN SELECT " + PlantTable.WRITE_TO_WAL);
      return List.of();
    } catch (SQLException e) {
      DatabaseFailure failure = new DatabaseFailure(e);
      if (failure.isTransient()) {
        throw e;
      }
      return List.of("the table plant cannot be used: " + failure.describe() + failure.remedy());
    }
  }

  /**
   * Rejects a pooler that does not keep one server session per connection. Checks several times,
   * because a busy pooler in transaction mode may reuse the same session by chance. Does not detect
   * several poolers on one port, or a pooler that reports the server's process ID at login.
   */
  private static void requireSession(Connection connection, DatabaseConnections source)
      throws SQLException {
    String process = process(connection);
    if (process.equals("" + connection.unwrap(PGConnection.class).getBackendPID())) {
      return; // no pooler
    }
    try (Connection other = source.getConnection()) {
      for (int round = 0; round < 20; round++) {
        // Performs the check twice in a row, because a pooler may alternate between two sessions.
        if (!process(connection).equals(process)
            || process(other).equals(process)
            || process(other).equals(process)) {
          throw new ConfigurationException(
              "the database must not be behind a pooler in transaction mode; set the pooler's"
                  + " pool_mode to session");
        }
      }
    }
  }

  private static String process(Connection connection) throws SQLException {
    return rows(connection, "SELECT pg_backend_pid()").get(0);
  }

  /** Runs a query, and returns the values in the first column of the result as strings. */
  static List<String> rows(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      List<String> texts = new ArrayList<>();
      while (row.next()) {
        texts.add(row.getString(1));
      }
      return texts;
    }
  }
}
