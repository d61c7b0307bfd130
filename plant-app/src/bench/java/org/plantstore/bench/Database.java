package org.plantstore.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A database on an embedded, durable PostgreSQL, or an existing database.
 *
 * @param address the address of the server, which may serve several databases
 * @param name the name of this one
 * @param largeTableRows the number of rows of {@link Table#LARGE}
 * @param server the resource to close at the end
 */
record Database(
    String address,
    String name,
    String username,
    String password,
    long largeTableRows,
    Closeable server)
    implements AutoCloseable {

  private static final String SCHEME = "jdbc:postgresql://";

  private static final Duration QUIET_LIMIT = Duration.ofSeconds(60);
  private static final Duration POLL_PAUSE = Duration.ofMillis(20);

  /** Longer than a busy service pauses between two statements. */
  private static final String IS_QUIET =
      """
      SELECT count(*) = 0 FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
        AND query ILIKE 'INSERT%'
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
    String address = "localhost:" + server.getPort();
    // The server asks for no password; the service does.
    return new Database(address, "postgres", "postgres", "any", largeTableRows, server);
  }

  /**
   * Returns the database at a URL, with the account that the environment names as it does for the
   * service.
   *
   * @throws BenchmarkException if it has plants, which would be deleted
   */
  static Database at(String url) throws SQLException {
    Matcher parts = Pattern.compile(SCHEME + "([^/?]+)/([^/?]+)").matcher(url);
    if (!parts.matches()) {
      throw new BenchmarkException(
          String.format(
              Locale.ROOT, "bench.database must be %shost:port/database, but is %s", SCHEME, url));
    }
    Database database =
        new Database(
            parts.group(1),
            parts.group(2),
            Objects.requireNonNullElse(System.getenv("DATABASE_USERNAME"), "postgres"),
            Objects.requireNonNullElse(System.getenv("DATABASE_PASSWORD"), "any"),
            0,
            () -> {});
    if (database.ask("SELECT to_regclass('plant')") != null && database.plants() > 0) {
      throw new BenchmarkException(
          url + " has plants, which the benchmark would delete; name one that has none");
    }
    return database;
  }

  /** Creates another database on the same server. */
  Database createBeside(String other) throws SQLException {
    execute("CREATE DATABASE " + other);
    return new Database(address, other, username, password, largeTableRows, server);
  }

  String url() {
    return SCHEME + address + "/" + name;
  }

  /** Prepares the content of the table for a round. */
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
        String.format(
            Locale.ROOT,
            """
            INSERT INTO plant (id, name, tag)
            SELECT (100000000 + number * (800000000 / %1$d)) * 10000000000,
                   'Monstera deliciosa', 'tropical'
            FROM generate_series(0, %1$d - 1) AS number
            """,
            Table.TAKEN_IDS),
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
          String.format(
              Locale.ROOT,
              """
              INSERT INTO plant_large (id, name, tag)
              SELECT ((1000000000000000000 + (random() * 8e18)::bigint) >> 32 << 32) + number,
                     'Monstera deliciosa', 'tropical'
              FROM generate_series(1, %d) AS number
              """,
              largeTableRows),
          "SET maintenance_work_mem = '512MB'; ALTER TABLE plant_large ADD PRIMARY KEY (id)",
          "VACUUM ANALYZE plant_large",
          "CHECKPOINT");
    }
    execute(SWAP);
  }

  void dropLargeTable() throws SQLException {
    execute("DROP TABLE IF EXISTS plant_large");
  }

  void deletePlants() throws SQLException {
    execute("TRUNCATE plant");
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
    return DriverManager.getConnection(url(), username, password);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
