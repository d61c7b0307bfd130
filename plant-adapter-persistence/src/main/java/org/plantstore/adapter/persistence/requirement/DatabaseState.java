package org.plantstore.adapter.persistence.requirement;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.postgresql.PGConnection;

/**
 * The state of a server, its account and its table, with the requirements on them. A requirement
 * returns its finding, or throws {@link ConfigurationException} with the remedy.
 *
 * @param mayMigrate whether the account may create the tables, or read the history if there is one
 * @param mayUse whether the account may insert plants and select them
 * @param table the relation plant and what hinders its use; null if there is none
 * @param isInSchema whether the relation is where the migration creates it
 */
record DatabaseState(
    DatabaseAccess access,
    int majorVersion,
    String encoding,
    boolean isStandby,
    boolean isReadOnly,
    boolean mayMigrate,
    boolean mayUse,
    @Nullable String table,
    boolean isInSchema) {

  static final Duration TIMEOUT = Duration.ofSeconds(3);
  private static final int OLDEST_VERSION = 14;

  /** What the query reports for a table without hindrances. */
  private static final String TABLE = "table (id bigint, name text, tag text)";

  /** The ways out where a schema has what belongs to others. */
  static final String WAYS_OUT =
      "; choose another schema by currentSchema in DATABASE_URL, or another database";

  private static final String QUERY =
      new BufferedReader(
              new InputStreamReader(
                  requireNonNull(DatabaseState.class.getResourceAsStream("state.query")), UTF_8))
          .lines()
          .collect(joining("\n"));

  /**
   * Reads the state, on a connection of its own.
   *
   * @throws SQLException if the server does not answer within 3 s
   * @throws ConfigurationException if connections do not keep their sessions
   */
  static DatabaseState read(DatabaseAccess access) throws SQLException {
    DataSource source = access.dataSource(TIMEOUT);
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(QUERY)) {
      row.next();
      requireSession(connection, source);
      return new DatabaseState(
          access,
          connection.getMetaData().getDatabaseMajorVersion(),
          row.getString("encoding"),
          row.getBoolean("is_standby"),
          row.getBoolean("is_read_only"),
          row.getBoolean("may_migrate"),
          row.getBoolean("may_use"),
          row.getString("relation"),
          row.getBoolean("is_in_schema"));
    }
  }

  /**
   * Requires a pooler, if there is one, to keep a session for each connection. Under load, a pooler
   * in transaction mode may do so by chance for some rounds. Two kinds of poolers are not detected:
   * a pooler that reports the server's process at the login, and a pooler whose idle processes
   * share a port.
   */
  private static void requireSession(Connection connection, DataSource source) throws SQLException {
    int process = process(connection);
    if (process == connection.unwrap(PGConnection.class).getBackendPID()) {
      return; // no pooler
    }
    try (Connection other = source.getConnection()) {
      int otherProcess = process(other);
      for (int round = 0; round < 20; round++) {
        // Twice in a row, because a pooler may use its sessions in turn.
        require(
            process != otherProcess
                && process == process(connection)
                && process == process(connection)
                && otherProcess == process(other),
            "the database must not be behind a pooler in transaction mode; set pool_mode to session",
            "each connection has a session");
      }
    }
  }

  private static int process(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  /**
   * Returns the requirements on the server and the account, in the order in which they are to be
   * met.
   *
   * @param migrates whether the account creates the tables, or changes them
   */
  List<Supplier<String>> ofServer(boolean migrates) {
    return List.of(
        // Parameters of the address may be secret.
        () -> access.url().replaceFirst("\\?.*", "") + " answers",
        this::requireVersion,
        () ->
            require(
                encoding.equals("UTF8"),
                "the database must have the encoding UTF8 to keep every name, but has " + encoding,
                "encoding " + encoding),
        () ->
            require(
                !isStandby,
                "the database is a standby; promote it, or name the primary",
                "a primary"),
        () ->
            require(
                !isReadOnly,
                "the database must be writable for " + access.username() + ", but is read-only",
                "writable for " + access.username()),
        () -> requireRights(migrates));
  }

  String requireVersion() {
    return require(
        majorVersion >= OLDEST_VERSION,
        "the database must be PostgreSQL " + OLDEST_VERSION + " or later, but is " + majorVersion,
        "PostgreSQL " + majorVersion);
  }

  private String requireRights(boolean migrates) {
    String account = access.username();
    if (migrates && !mayMigrate) {
      throw new ConfigurationException(
          account
              + " must be allowed to create the tables, and to change them; if another account does"
              + " that with plant-store migrate, set DATABASE_MIGRATE to off");
    }
    if (!TABLE.equals(table)) {
      return account + (migrates ? " may create the table plant" : " may connect");
    }
    return require(
        mayUse,
        account + " must be allowed to insert into and to select from the table plant",
        account + " has the rights that the service needs");
  }

  /** Requires the table, or its name to be free in the schema where a migration creates it. */
  String requireTableOrFree() {
    return table == null || !isInSchema
        ? "the table plant is not there yet; the start creates it"
        : requireTable();
  }

  String requireTable() {
    if (table == null) {
      String remedy = "; run plant-store migrate, and accounts.sql after it";
      throw new ConfigurationException("there is no table plant for " + access.username() + remedy);
    }
    String demand = TABLE + ", unique by id, where nothing changes, hides or refuses plants";
    return require(
        table.equals(TABLE),
        "plant must be a " + demand + ", but is: " + table + WAYS_OUT,
        "the table plant has the columns and the index that the service needs");
  }

  private static String require(boolean isMet, String remedy, String finding) {
    if (!isMet) {
      throw new ConfigurationException(remedy);
    }
    return finding;
  }
}
