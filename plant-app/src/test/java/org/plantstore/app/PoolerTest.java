package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** PgBouncer, set up as on the page, in front of a database whose default is not durable. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class PoolerTest {

  @TempDir Path folder;

  private @Nullable Process pooler;

  @AutoClose("shutdownNow")
  private final ExecutorService others = Executors.newCachedThreadPool();

  /** The database as clients of the pooler see it. */
  private final Database plants = new Database(ServiceProcess.freePort(), "plants");

  @AfterEach
  void stopPooler() {
    if (pooler != null) {
      pooler.destroyForcibly().onExit().join();
    }
  }

  @Test
  void session_mode_is_durable() throws Exception {
    Database server = database();
    startPooler(server, "session");
    try (ServiceProcess service = new ServiceProcess(throughPooler(""))) {
      service.awaitReady();
      // Each row keeps the setting of the session that inserts it.
      server.execute(
          "ALTER TABLE plant ADD commit text DEFAULT current_setting('synchronous_commit')");

      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals("on", server.single("SELECT commit FROM plant"));
    }
  }

  @ParameterizedTest
  @CsvSource({"'', 0", "?prepareThreshold=0, 30"})
  void transaction_mode_is_refused_with_any_number_of_other_clients(String parameters, int clients)
      throws Exception {
    startPooler(database(), "transaction");
    List<Future<Void>> load =
        Stream.generate(() -> others.submit(this::runStatements)).limit(clients).toList();

    assertEquals(
        "the database must not be behind a pooler in transaction mode; set pool_mode to session",
        StartTest.refusal(throughPooler(parameters)));
    assertTrue(load.stream().noneMatch(Future::isDone), "the other clients are still there");
  }

  private @Nullable Void runStatements() throws SQLException {
    try (Connection connection = plants.connect();
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

  private Map<String, String> throughPooler(String parameters) {
    Map<String, String> environment = plants.environment();
    environment.merge("DATABASE_URL", parameters, String::concat);
    return environment;
  }

  private void startPooler(Database server, String mode) throws IOException {
    String address =
        "host=127.0.0.1 port=" + server.port() + " dbname=" + server.name() + " user=postgres";
    String settings =
        Manifests.block(Path.of("docs", "deployment.md"), "ini")
            .replace("host=database.example.org", address)
            .replace("pool_mode = session", "pool_mode = " + mode)
            .concat("listen_addr = 127.0.0.1\nauth_type = any\nunix_socket_dir =\n")
            .concat("listen_port = " + plants.port() + "\n");
    Files.writeString(folder.resolve("pgbouncer.ini"), settings);
    List<String> command = new ArrayList<>(List.of("pgbouncer", "pgbouncer.ini"));
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("-u", "nobody"));
    }
    pooler = Program.start(folder, command);
    Await.success("PgBouncer is ready", () -> plants.connect().close());
  }
}
