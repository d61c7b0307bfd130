package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** PgBouncer, set up as on the page, in front of a database whose default is not durable. */
@Execution(ExecutionMode.CONCURRENT)
class PoolerTest {

  private static final Pattern PAGE = Pattern.compile("(?ms)^```ini\n(\\[databases].*?)^```");

  private static final String REFUSAL =
      "the database must not be behind a pooler in transaction mode; set pool_mode to session";

  @TempDir Path folder;

  @Test
  void session_mode_is_durable() throws Exception {
    Database server = database();
    try (Pooler pooler = new Pooler(server, folder, "session");
        ServiceProcess service = start(pooler, "")) {
      service.awaitReady();
      // Each row keeps the setting of the session that inserts it.
      server.execute(
          "ALTER TABLE plant ADD commit text DEFAULT current_setting('synchronous_commit')");

      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals("on", server.single("SELECT commit FROM plant"));
      try (ServiceProcess check = start(pooler, "", "check")) {
        assertEquals(0, check.awaitExit(), check::output);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"'', 0", "'', 30", "?prepareThreshold=0, 2"})
  void transaction_mode_is_refused_with_any_number_of_other_clients(String parameters, int clients)
      throws Exception {
    ExecutorService others = Executors.newCachedThreadPool();
    try (Pooler pooler = new Pooler(database(), folder, "transaction")) {
      List<Future<?>> load = new ArrayList<>();
      for (int client = 0; client < clients; client++) {
        load.add(others.submit(() -> runStatements(pooler.database)));
      }
      try (ServiceProcess start = start(pooler, parameters)) {
        assertEquals(1, start.awaitExit());
        assertEquals("plant-store does not start: " + REFUSAL + "\n", start.errors());
      }
      try (ServiceProcess check = start(pooler, parameters, "check")) {
        assertEquals(1, check.awaitExit());
        assertTrue(check.output().endsWith("✘ database: " + REFUSAL + "\n"), check::output);
      }
      assertTrue(load.stream().noneMatch(Future::isDone), "the other clients are still there");
    } finally {
      others.shutdownNow();
    }
  }

  private static @Nullable Void runStatements(Database database) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      while (!Thread.interrupted()) {
        statement.execute("SELECT 1");
      }
      return null;
    }
  }

  /** Creates a database whose sessions would lose plants in a crash. */
  private static Database database() throws SQLException {
    Database database = Database.create();
    database.execute("ALTER DATABASE " + database.name() + " SET synchronous_commit = off");
    return database;
  }

  private static ServiceProcess start(Pooler pooler, String parameters, String... arguments) {
    String url = "jdbc:postgresql://127.0.0.1:" + pooler.database.port() + "/plants" + parameters;
    return ServiceProcess.of(Database.environment(url), arguments);
  }

  /** A PgBouncer. */
  private static final class Pooler implements AutoCloseable {

    final Database database = new Database(ServiceProcess.freePort(), "plants");
    private final Process process;

    Pooler(Database server, Path folder, String mode) throws IOException {
      String page = Manifests.text(Path.of("docs", "deployment.md"));
      MatchResult lines = PAGE.matcher(page).results().findFirst().orElseThrow();
      String settings =
          lines
              .group(1)
              .replace(
                  "host=database.example.org",
                  "host=127.0.0.1 port=%d dbname=%s user=postgres"
                      .formatted(server.port(), server.name()))
              .replace("pool_mode = session", "pool_mode = " + mode)
              .concat(
                  "listen_addr = 127.0.0.1\nlisten_port = %d\nauth_type = any\nunix_socket_dir =\n"
                      .formatted(database.port()));
      List<String> command = new ArrayList<>(List.of(Program.requireInstalled("pgbouncer")));
      if (System.getProperty("user.name").equals("root")) {
        command.addAll(List.of("-u", "nobody"));
      }
      command.add(Files.writeString(folder.resolve("pgbouncer.ini"), settings).toString());
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(Redirect.to(folder.resolve("log").toFile()))
              .start();
      Await.until(
          () -> "PgBouncer listens: " + Manifests.text(folder.resolve("log")),
          Await.LIMIT,
          () -> {
            try (Connection connection = database.connect()) {
              return connection.isValid(1);
            } catch (SQLException e) {
              return false;
            }
          });
    }

    @Override
    public void close() {
      process.destroyForcibly();
      process.onExit().join();
    }
  }
}
