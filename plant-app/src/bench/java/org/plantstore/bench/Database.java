package org.plantstore.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The database of one service.
 *
 * @param server the database server, which all services share
 * @param name the name of the database
 */
record Database(EmbeddedPostgres server, String name) {

  static final String USERNAME = "postgres";

  /**
   * Starts a database server that makes each commit durable.
   *
   * @param parent the folder for the server's data, which must be on a disk, because a durable
   *     commit costs almost nothing if the data is in memory
   */
  static EmbeddedPostgres startServer(Path parent) throws IOException {
    return EmbeddedPostgres.builder()
        .setDataDirectory(Files.createTempDirectory(parent, "benchmark-data-"))
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on")
        .start();
  }

  /** Creates an empty database. */
  static Database create(EmbeddedPostgres server, String name) throws SQLException {
    new Database(server, USERNAME).execute("CREATE DATABASE " + name);
    return new Database(server, name);
  }

  /**
   * Returns the libpq URL of this database. The JDBC URL is the same URL with the prefix {@code
   * jdbc:}.
   */
  String url() {
    return "postgresql://localhost:" + server.getPort() + "/" + name;
  }

  /** Deletes all plants, and writes the remaining changes of earlier measurements to the disk. */
  void empty() throws SQLException {
    execute("TRUNCATE plant");
    execute("CHECKPOINT");
  }

  /** Returns the number of stored plants. */
  long plants() throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery("SELECT count(*) FROM plant")) {
      result.next();
      return result.getLong(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private Connection connect() throws SQLException {
    return server.getDatabase(USERNAME, name).getConnection();
  }
}
