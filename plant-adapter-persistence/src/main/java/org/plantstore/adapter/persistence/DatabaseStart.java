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
 * Prepares the database at a start: waits for it, brings the tables up to date, and refuses a table
 * that would lose or change plants silently. Starts again with the first step while the database
 * does not answer, until the start's time-out.
 */
record DatabaseStart(DatabaseSettings settings, boolean migrates) {

  private static final Duration PAUSE = Duration.ofMillis(500);
  static final Duration LOG_PERIOD = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(DatabaseStart.class);

  /** The time-out of each answer. A slow processor needs some seconds for TLS and a password. */
  private static final Duration ANSWER = Duration.ofSeconds(5);

  /** The time-out of a query, and of its locks, which the server reports before that. */
  private static final Duration QUERY = Duration.ofSeconds(4);

  private static final String FAULTS = resource("faults.query");

  /** Returns a row if the table is where a migration creates it. */
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
   * Brings the tables up to date if the account migrates, and requires all that the store needs.
   *
   * @return whether the database has Citus
   * @throws ConfigurationException if it is not met, or the database is unavailable for too long
   */
  boolean prepare() {
    return await(
        settings.startTimeout,
        connection -> {
          requireNone(faults(connection, migrates));
          if (migrates) {
            new DatabaseMigration(settings).run();
            requireNone(faults(connection, false));
          }
          return Shards.areIn(connection);
        });
  }

  /**
   * Returns the faults for which a start would be refused now. Changes nothing, and does not wait.
   *
   * @throws ConfigurationException if the database does not answer
   */
  List<String> check() {
    return await(
        Duration.ZERO,
        connection -> {
          List<String> faults = faults(connection, migrates);
          if (migrates && faults.isEmpty()) {
            faults = DatabaseMigration.faults(connections(), connection);
          }
          boolean isTable = migrates && faults.isEmpty() && !rows(connection, TABLE).isEmpty();
          return isTable ? faults(connection, false) : faults;
        });
  }

  static void requireNone(List<String> faults) {
    if (!faults.isEmpty()) {
      throw new ConfigurationException(String.join("; also ", faults));
    }
  }

  private static List<String> faults(Connection connection, boolean isToMigrate)
      throws SQLException {
    List<String> faults = rows(connection, FAULTS.replace("<migrates>", "" + isToMigrate));
    if (!faults.isEmpty() || isToMigrate) {
      return faults;
    }
    return Shards.areIn(connection) ? Shards.faults(connection) : trial(connection);
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
          throw failure.asRefusal();
        }
        if (System.nanoTime() - logged >= LOG_PERIOD.toNanos()) {
          logged = System.nanoTime();
          LOG.warn(
              "The database is unavailable; the start has waited for {} s of {} s: {}",
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

  /** Returns a source that also connects to a read-only server, to report the reason. */
  private DatabaseConnections connections() {
    DatabaseConnections source =
        new DatabaseConnections(settings, "plant-store", 5, ANSWER, QUERY, QUERY);
    source.setTargetServerType("preferPrimary");
    return source;
  }

  private static void requirePrimary(Connection connection) throws SQLException {
    // A role that is read-only on the primary too is among the faults.
    String standby =
        "SELECT 1 WHERE pg_is_in_recovery() AND current_setting('default_transaction_read_only') ="
            + " 'off'";
    if (!rows(connection, standby).isEmpty()) {
      throw new SQLException("DATABASE_URL leads only to a standby; name the primary", "25006");
    }
  }

  /** Plans the store's statements for no plants, and returns why that fails. */
  private static List<String> trial(Connection connection) throws SQLException {
    try {
      // Not executed: an insert of no rows would fire triggers of statements, such as an audit's.
      rows(connection, "EXPLAIN " + PlantTable.TRIAL);
      rows(connection, "EXPLAIN " + PlantTable.SELECT.replace("?", "'{}'"));
      return List.of();
    } catch (SQLException e) {
      DatabaseFailure failure = new DatabaseFailure(e);
      if (failure.isTransient()) {
        throw e;
      }
      return List.of("the table plant cannot be used: " + failure.describe());
    }
  }

  /**
   * Requires a pooler, if there is one, to keep a session for each connection. Under load, a pooler
   * in transaction mode may do so by chance for some rounds. Two kinds of poolers are not detected:
   * a pooler that reports the server's process at the login, and a pooler whose idle processes
   * share a port.
   */
  private static void requireSession(Connection connection, DatabaseConnections source)
      throws SQLException {
    String process = process(connection);
    if (process.equals("" + connection.unwrap(PGConnection.class).getBackendPID())) {
      return; // no pooler
    }
    try (Connection other = source.getConnection()) {
      String otherProcess = process(other);
      for (int round = 0; round < 20; round++) {
        // Twice in a row, because a pooler may use its sessions in turn.
        if (process.equals(otherProcess)
            || !process.equals(process(connection))
            || !process.equals(process(connection))
            || !otherProcess.equals(process(other))) {
          throw new ConfigurationException(
              "the database must not be behind a pooler in transaction mode; set pool_mode to"
                  + " session");
        }
      }
    }
  }

  private static String process(Connection connection) throws SQLException {
    return rows(connection, "SELECT pg_backend_pid()").get(0);
  }

  /** Returns the texts in the first column. */
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
