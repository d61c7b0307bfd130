package org.plantstore.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * An embedded PostgreSQL, as durable as one in production. Its data are in a folder of their own,
 * which is removed when it is closed or the process ends.
 */
public final class Database implements AutoCloseable {

  /** The account; the server asks for no password. */
  public static final String USERNAME = "postgres";

  private static final String DEFAULT_NAME = "postgres";

  private final EmbeddedPostgres server;
  private final String name;

  private static final Duration QUIET_LIMIT = Duration.ofSeconds(60);
  private static final Duration POLL_PAUSE = Duration.ofMillis(20);

  /** Longer than a service pauses between two statements as long as it has any to make. */
  private static final String IS_QUIET =
      """
      SELECT count(*) = 0 FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
        AND (state <> 'idle' OR state_change > clock_timestamp() - interval '200 ms')
      """;

  private Database(EmbeddedPostgres server, String name) {
    this.server = server;
    this.name = name;
  }

  /**
   * Starts a server.
   *
   * @param parent where to make the folder of the data: on a disk, for a folder in memory would
   *     make durability free
   */
  public static Database start(Path parent) throws IOException {
    Path data = Files.createTempDirectory(parent.toAbsolutePath(), "benchmark-data-");
    return new Database(
        EmbeddedPostgres.builder()
            .setDataDirectory(data)
            .setServerConfig("fsync", "on")
            .setServerConfig("full_page_writes", "on")
            .setServerConfig("synchronous_commit", "on")
            .start(),
        DEFAULT_NAME);
  }

  /** Creates a database on the same server, which ends with this one. */
  Database createBeside(String other) throws SQLException {
    execute("CREATE DATABASE " + other);
    return new Database(server, other);
  }

  /** Answers the address for JDBC. */
  public String url() {
    return "jdbc:postgresql://localhost:" + port() + "/" + name;
  }

  String name() {
    return name;
  }

  int port() {
    return server.getPort();
  }

  /** Executes each statement in a transaction of its own. */
  void execute(String... statements) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** Answers the one value that a query has as its result. */
  String ask(String query) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(query)) {
      answer.next();
      return answer.getString(1);
    }
  }

  /**
   * Returns once nobody has used the database for a moment: a load that ends leaves creates behind
   * that nobody waits for, but that are stored all the same.
   */
  void awaitQuiet() throws SQLException {
    long deadline = System.nanoTime() + QUIET_LIMIT.toNanos();
    try (Connection connection = connect();
        PreparedStatement question = connection.prepareStatement(IS_QUIET)) {
      while (!isTrue(question)) {
        if (System.nanoTime() - deadline > 0) {
          throw new BenchmarkException(
              "the database is still in use " + QUIET_LIMIT.toSeconds() + " s after the load");
        }
        LockSupport.parkNanos(POLL_PAUSE.toNanos());
      }
    }
  }

  private static boolean isTrue(PreparedStatement question) throws SQLException {
    try (ResultSet answer = question.executeQuery()) {
      return answer.next() && answer.getBoolean(1);
    }
  }

  /** Answers how many plants are stored. */
  long plants() throws SQLException {
    return Long.parseLong(ask("SELECT count(*) FROM plant"));
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url(), USERNAME, "any");
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
