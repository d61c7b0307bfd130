package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.fixture.DatabaseServer;

/**
 * PgBouncer, configured as in {@code deployment.md}, in front of a database whose default is not
 * durable.
 */
@Tag("slow")
class PoolerTest {

  @TempDir Path folder;

  /** The database with the port of the pooler. */
  private final Database plants = new Database(DatabaseServer.freePort(), "plants");

  private Database server;
  private @Nullable Process pooler;

  /** Creates a database whose sessions, by default, would lose plants in a crash. */
  @BeforeEach
  void createDatabase() throws SQLException {
    server = Database.create();
    server.execute("ALTER DATABASE " + server.name() + " SET synchronous_commit = off");
  }

  @AfterEach
  void stopPooler() {
    if (pooler != null) {
      pooler.destroyForcibly().onExit().join();
    }
  }

  @Test
  void creates_in_session_mode_are_durable() throws Exception {
    startPooler("session");
    try (ServiceProcess service = new ServiceProcess(plants.environment()).awaitReady()) {
      // Each row records the setting of the session that inserts it.
      server.execute(
          "ALTER TABLE plant ADD commit text DEFAULT current_setting('synchronous_commit')");

      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals("on", server.single("SELECT commit FROM plant"));
    }
  }

  @Test
  void transaction_mode_is_refused() throws Exception {
    startPooler("transaction");
    String address = "127.0.0.1:" + plants.port() + "/plants?prepareThreshold=0";
    assertEquals(
        "the database must not be behind a pooler in transaction mode; set the pooler's pool_mode"
            + " to session",
        StartupTest.refusal(Database.environmentAt(address)));
  }

  private void startPooler(String mode) throws IOException {
    String address =
        "host=127.0.0.1 port=" + server.port() + " dbname=" + server.name() + " user=postgres";
    String settings =
        ProjectFiles.block(ProjectFiles.page("deployment.md"), "ini")
            .replace("host=database.example.org", address)
            .replace("pool_mode = session", "pool_mode = " + mode)
            .concat("listen_addr = 127.0.0.1\nauth_type = any\nunix_socket_dir =\n")
            .concat("listen_port = " + plants.port() + "\n");
    Files.writeString(folder.resolve("pgbouncer.ini"), settings);
    boolean isRoot = System.getProperty("user.name").equals("root");
    String command = "pgbouncer pgbouncer.ini" + (isRoot ? " -u nobody" : "");
    pooler = Program.start(folder, command.split(" "));
    Await.until(() -> plants.connect().close());
  }
}
