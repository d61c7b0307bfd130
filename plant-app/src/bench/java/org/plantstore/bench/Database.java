package org.plantstore.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A database on an embedded PostgreSQL that is as durable as one in production.
 *
 * @param server the server, which serves several databases
 * @param name the name of this one
 * @param largeTableRows the number of rows of {@link Table#LARGE}
 */
record Database(EmbeddedPostgres server, String name, long largeTableRows)
    implements AutoCloseable {

  static final String USERNAME = "postgres";

  /** The server asks for none; the service does. */
  static final String PASSWORD = "any";

  private static final Duration QUIET_LIMIT = Duration.ofSeconds(60);
  private static final Duration POLL_PAUSE = Duration.ofMillis(20);

  /** Longer than a service that has statements to make pauses between two of them. */
  private static final String IS_QUIET =
      """
      SELECT count(*) = 0 FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
        AND (state <> 'idle' OR state_change > clock_timestamp() - interval '200 ms')
      """;

  private static final String SWAP =
      "BEGIN; ALTER TABLE plant RENAME TO plant_swapped; ALTER TABLE plant_large RENAME TO plant;"
          + " ALTER TABLE plant_swapped RENAME TO plant_large; COMMIT";

  /**
   * Starts a server.
   *
   * @param parent the folder to put its data in: on a disk, as durability would cost nothing in
   *     memory
   */
  static Database start(Path parent, long largeTableRows) throws IOException {
    Path data = Files.createTempDirectory(parent, "benchmark-data-");
    EmbeddedPostgres server =
        EmbeddedPostgres.builder()
            .setDataDirectory(data)
            .setServerConfig("fsync", "on")
            .setServerConfig("full_page_writes", "on")
            .setServerConfig("synchronous_commit", "on")
            .start();
    return new Database(server, "postgres", largeTableRows);
  }

  /** Creates another database on the same server. */
  Database createBeside(String other) throws SQLException {
    execute("CREATE DATABASE " + other);
    return new Database(server, other, largeTableRows);
  }

  int port() {
    return server.getPort();
  }

  String url() {
    return "jdbc:postgresql://localhost:" + port() + "/" + name;
  }

  /** Gives the table the content that a round begins with. */
  void prepare(Table table) throws SQLException {
    awaitQuiet();
    switch (table) {
      case EMPTY -> execute("TRUNCATE plant", "CHECKPOINT");
      case TAKEN -> fillWithTakenIds();
      case LARGE -> useLargeTable();
    }
  }

  /** Ends a round that began with {@link #prepare(Table)}. */
  void release(Table table) throws SQLException {
    if (table == Table.LARGE) {
      execute(SWAP);
    }
  }

  private void fillWithTakenIds() throws SQLException {
    execute(
        "TRUNCATE plant",
        """
        INSERT INTO plant (id, name, tag)
        SELECT (100000000 + number * (800000000 / %1$d)) * 10000000000,
               'Monstera deliciosa', 'tropical'
        FROM generate_series(0, %1$d - 1) AS number
        """
            .formatted(Table.TAKEN_IDS),
        "VACUUM ANALYZE plant",
        "CHECKPOINT");
  }

  /**
   * Gives the large table the name of the other. A running service does not notice, so the same
   * process is measured on both. There is no checkpoint before: the first change of a page after
   * one is logged with the whole page, and nearly every create would be such a change.
   */
  private void useLargeTable() throws SQLException {
    if (ask("SELECT to_regclass('plant_large')") == null) {
      execute(
          "CREATE TABLE plant_large (LIKE plant INCLUDING ALL)",
          "ALTER TABLE plant_large DROP CONSTRAINT plant_large_pkey",
          """
          INSERT INTO plant_large (id, name, tag)
          SELECT ((1000000000000000000 + (random() * 8e18)::bigint) >> 32 << 32) + number,
                 'Monstera deliciosa', 'tropical'
          FROM generate_series(1, %d) AS number
          """
              .formatted(largeTableRows),
          "SET maintenance_work_mem = '512MB'; ALTER TABLE plant_large ADD PRIMARY KEY (id)",
          "VACUUM ANALYZE plant_large",
          "CHECKPOINT");
    }
    execute(SWAP);
  }

  void dropLargeTable() throws SQLException {
    execute("DROP TABLE IF EXISTS plant_large");
  }

  long plants() throws SQLException {
    return Long.parseLong(String.valueOf(ask("SELECT count(*) FROM plant")));
  }

  /**
   * Returns once the server has been idle for a moment: a load that ends leaves creates in flight,
   * which are stored all the same.
   */
  void awaitQuiet() throws SQLException {
    long deadline = System.nanoTime() + QUIET_LIMIT.toNanos();
    while (!"t".equals(ask(IS_QUIET))) {
      if (System.nanoTime() - deadline > 0) {
        throw new BenchmarkException("the database is still in use after " + QUIET_LIMIT);
      }
      LockSupport.parkNanos(POLL_PAUSE.toNanos());
    }
  }

  /** Returns the one value of a query's result. */
  @Nullable String ask(String query) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(query)) {
      result.next();
      return result.getString(1);
    }
  }

  /** Executes each statement in a transaction of its own. */
  private void execute(String... statements) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url(), USERNAME, PASSWORD);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
