package org.plantstore.adapter.persistence.start;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.plantstore.adapter.persistence.database.DatabaseAccess;

/**
 * What a server says of itself and of the account.
 *
 * @param username the account's name
 * @param majorVersion the version of PostgreSQL
 * @param encoding the encoding of the database
 * @param isStandby whether the server only follows another one
 * @param isReadOnly whether the account's transactions are read-only
 * @param hasTable whether the table of plants is there
 * @param mayMigrate whether the account may bring the tables up to date, or see that they are
 * @param mayUse whether the account may insert plants and select them
 */
public record Server(
    String username,
    int majorVersion,
    String encoding,
    boolean isStandby,
    boolean isReadOnly,
    boolean hasTable,
    boolean mayMigrate,
    boolean mayUse) {

  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** The schema is null if it is yet to be made, which the migration does. */
  private static final String QUESTIONS =
      """
      SELECT current_setting('server_encoding') AS encoding,
             pg_is_in_recovery() AS is_standby,
             current_setting('transaction_read_only') = 'on' AS is_read_only,
             plant IS NOT NULL AS has_table,
             CASE
               WHEN history IS NOT NULL THEN has_table_privilege(history::oid, 'SELECT')
               WHEN current_schema() IS NULL THEN has_database_privilege(current_database(), 'CREATE')
               ELSE has_schema_privilege(current_schema(), 'CREATE')
             END AS may_migrate,
             has_table_privilege(plant::oid, 'INSERT')
               AND has_table_privilege(plant::oid, 'SELECT') AS may_use
      FROM to_regclass('plant') AS plant,
           to_regclass(quote_ident(current_schema()) || '.flyway_schema_history') AS history
      """;

  /**
   * Asks the server, on a connection of its own.
   *
   * @throws SQLException if the server does not answer, or not within 3 s
   */
  public static Server ask(DatabaseAccess access) throws SQLException {
    try (Connection connection = access.dataSource(TIMEOUT).getConnection();
        Statement statement = connection.createStatement();
        ResultSet answers = statement.executeQuery(QUESTIONS)) {
      answers.next();
      return new Server(
          access.username(),
          connection.getMetaData().getDatabaseMajorVersion(),
          answers.getString("encoding"),
          answers.getBoolean("is_standby"),
          answers.getBoolean("is_read_only"),
          answers.getBoolean("has_table"),
          answers.getBoolean("may_migrate"),
          answers.getBoolean("may_use"));
    }
  }
}
