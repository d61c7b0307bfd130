package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A real PostgreSQL server, as durable as one in production, that can be killed. */
public final class DatabaseServer {

  private static final String USER = "postgres";
  private static final Duration RESTART_TIMEOUT = Duration.ofSeconds(60);

  private static @Nullable DatabaseServer shared;

  private final Path data;
  private EmbeddedPostgres server;

  private DatabaseServer(Path data) {
    this.data = data;
    this.server = start(0);
  }

  /** Returns the server of all tests, which ends with their process. */
  public static synchronized DatabaseServer shared() {
    if (shared == null) {
      try {
        shared = new DatabaseServer(Files.createTempDirectory(Path.of("target"), "postgres"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return shared;
  }

  /** Starts an instance of the adapter on this server. */
  public ApplicationContext connect() {
    return connect(Map.of());
  }

  /** Starts an instance whose settings replace those of this server. */
  public ApplicationContext connect(Map<String, Object> replacements) {
    Map<String, Object> settings = new HashMap<>(settings());
    settings.putAll(replacements);
    return ApplicationContext.run(settings);
  }

  public Map<String, Object> settings() {
    return Map.of(
        "database.url",
        url("postgres"),
        "database.username",
        USER,
        "database.password",
        "any",
        "database.start.timeout.seconds",
        0);
  }

  public String url(String database) {
    return "jdbc:postgresql://localhost:" + server.getPort() + "/" + database;
  }

  int port() {
    return server.getPort();
  }

  public Connection connection() throws SQLException {
    return DriverManager.getConnection(url("postgres"), USER, "any");
  }

  /** Executes each statement in its own transaction. */
  public void execute(String... statements) {
    try (Connection connection = connection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the single value of a query. */
  public String single(String query) throws SQLException {
    try (Connection connection = connection();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      row.next();
      return String.valueOf(row.getString(1));
    }
  }

  /** Resets the account and drops the tables. */
  public void reset() {
    execute(
        "SET default_transaction_read_only = off",
        "ALTER ROLE postgres RESET ALL",
        "DROP TABLE IF EXISTS plant, flyway_schema_history");
  }

  /** Kills every process of the server at once, and restarts it on the data on disk. */
  public void crash() throws IOException {
    int port = server.getPort();
    kill();
    server.close(); // releases its lock on the data
    Instant deadline = Instant.now().plus(RESTART_TIMEOUT);
    while (true) {
      try {
        server = start(port);
        return;
      } catch (IllegalStateException | UncheckedIOException e) {
        // The kernel may still be taking down the killed processes' shared memory and socket.
        if (Instant.now().isAfter(deadline)) {
          throw e;
        }
        LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      }
    }
  }

  private void kill() throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
    ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    // First the postmaster, which would replace the others.
    List<ProcessHandle> processes =
        Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
    processes.forEach(ProcessHandle::destroyForcibly);
    processes.forEach(process -> process.onExit().join());
  }

  private EmbeddedPostgres start(int port) {
    try {
      return EmbeddedPostgres.builder()
          .setDataDirectory(data)
          .setCleanDataDirectory(false)
          .setPort(port)
          .setServerConfig("fsync", "on")
          .setServerConfig("full_page_writes", "on")
          .setServerConfig("synchronous_commit", "on")
          // It takes transaction ids, which a test counts.
          .setServerConfig("autovacuum", "off")
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
