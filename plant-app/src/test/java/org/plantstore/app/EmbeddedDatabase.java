package org.plantstore.app;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.app.development.DevelopmentKey;

/** A PostgreSQL as durable as one in production, and the settings of a service that uses it. */
final class EmbeddedDatabase {

  private static final Duration RESTART_TIMEOUT = Duration.ofSeconds(60);

  private EmbeddedDatabase() {}

  /** Starts a server whose data are deleted when it is closed. */
  static EmbeddedPostgres start() throws IOException {
    return durable().start();
  }

  static EmbeddedPostgres start(Path data, int port) throws IOException {
    return durable().setDataDirectory(data).setCleanDataDirectory(false).setPort(port).start();
  }

  private static EmbeddedPostgres.Builder durable() {
    return EmbeddedPostgres.builder()
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on");
  }

  /** Kills all processes of the server at once, as a machine does that loses its power. */
  static void kill(EmbeddedPostgres database, Path data) throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
    ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    List<ProcessHandle> processes = new ArrayList<>(List.of(postmaster));
    processes.addAll(postmaster.descendants().toList());
    processes.forEach(ProcessHandle::destroyForcibly);
    processes.forEach(process -> process.onExit().join());
    database.close(); // finds nothing to stop, and gives its lock on the data back
  }

  /** Starts a server again that was killed, as soon as the kernel has taken down what it left. */
  static EmbeddedPostgres restart(Path data, int port) throws IOException {
    long deadline = System.nanoTime() + RESTART_TIMEOUT.toNanos();
    while (true) {
      try {
        return start(data, port);
      } catch (IOException | IllegalStateException e) {
        if (System.nanoTime() > deadline) {
          throw e;
        }
        LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      }
    }
  }

  /** Executes each statement in a transaction of its own. */
  static void execute(EmbeddedPostgres database, String... statements) throws SQLException {
    try (Connection connection = database.getPostgresDatabase().getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** Answers the one value that a query has as its result. */
  static String single(EmbeddedPostgres database, String query) throws SQLException {
    try (Connection connection = database.getPostgresDatabase().getConnection();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }

  /** Returns when somebody waits for a lock, such as one that the statement's connection holds. */
  static void awaitWhoWaitsForALock(Statement statement) throws SQLException {
    while (true) {
      try (ResultSet waiting =
          statement.executeQuery("SELECT FROM pg_locks WHERE NOT granted LIMIT 1")) {
        if (waiting.next()) {
          return;
        }
      }
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  static Map<String, String> environment(EmbeddedPostgres database) {
    return environment("jdbc:postgresql://localhost:" + database.getPort() + "/postgres");
  }

  static Map<String, String> environment(String url) {
    Map<String, String> environment = new HashMap<>();
    environment.put("DATABASE_URL", url);
    environment.put("DATABASE_USERNAME", "postgres");
    environment.put("DATABASE_PASSWORD", "postgres");
    environment.put("JWT_SECRET", DevelopmentKey.SECRET);
    return environment;
  }
}
