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
 * A database of one service.
 *
 * @param server its server, which others share
 * @param name its name
 */
record Database(EmbeddedPostgres server, String name) {

  static final String USERNAME = "postgres";

  /**
   * Starts a server that makes each commit durable.
   *
   * @param parent the folder for its data, on a disk: in memory, durability costs nothing
   */
  static EmbeddedPostgres startServer(Path parent) throws IOException {
    return EmbeddedPostgres.builder()
        .setDataDirectory(Files.createTempDirectory(parent, "benchmark-data-"))
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on")
        .start();
  }

  /** Creates a database without tables. */
  static Database create(EmbeddedPostgres server, String name) throws SQLException {
    new Database(server, USERNAME).execute("CREATE DATABASE " + name);
    return new Database(server, name);
  }

  /** Returns the URL that libpq understands; JDBC's has a prefix. */
  String url() {
    return "postgresql://localhost:" + server.getPort() + "/" + name;
  }

  /** Deletes all plants, and writes what is left of earlier loads to the disk. */
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
