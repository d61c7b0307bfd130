package org.plantstore.adapter.persistence;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;

/**
 * Finds out before the start whether a server can keep the store's rules, and whether the account
 * may do what the store does, so that the reason is told in an operator's words.
 *
 * @param access where the server is
 */
record ServerCheck(DatabaseAccess access) {

  private static final int OLDEST_SERVER = 14;
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** The schema is null if it is yet to be made, which the migration does. */
  private static final String QUESTIONS =
      """
      SELECT current_setting('server_encoding') AS encoding,
             current_setting('transaction_read_only') = 'on' AS read_only,
             current_schema() IS NULL
               OR to_regclass('plant') IS NOT NULL
               OR has_schema_privilege(current_schema(), 'CREATE') AS may_create,
             to_regclass('plant') IS NULL
               OR (has_table_privilege(to_regclass('plant')::oid, 'INSERT')
                 AND has_table_privilege(to_regclass('plant')::oid, 'SELECT')) AS may_use
      """;

  /**
   * Asks the server.
   *
   * @throws ConfigurationException if it does not answer, or its answers rule it out
   */
  void run() {
    Properties properties = new Properties();
    properties.setProperty("user", access.username());
    properties.setProperty("password", access.password());
    // Bounds the connection as a whole; the others would each bound one of several attempts.
    properties.setProperty("loginTimeout", String.valueOf(TIMEOUT.toSeconds()));
    properties.setProperty("socketTimeout", String.valueOf(TIMEOUT.toSeconds()));
    try (Connection connection = DriverManager.getConnection(access.url(), properties)) {
      requireVersion(connection.getMetaData().getDatabaseMajorVersion());
      try (Statement statement = connection.createStatement();
          ResultSet answers = statement.executeQuery(QUESTIONS)) {
        answers.next();
        requireUsable(answers);
      }
    } catch (SQLException e) {
      throw new ConfigurationException(
          "the database cannot be used; check DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and"
              + " the server: "
              + new PostgresFailure(e).describe());
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
    require(
        !answers.getBoolean("read_only"),
        "the database must be writable for " + access.username() + ", but is read-only");
    require(
        answers.getBoolean("may_create"),
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
