package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A database with a synchronous standby, which goes down and returns. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class StandbyTest {

  private static final int CALLERS = 8;

  /** The connections of the pool and of the probe. */
  private static final int SESSIONS = 5;

  @TempDir Path folder;

  @AutoClose("shutdownNow")
  private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);

  @Test
  void plant_that_no_standby_has_is_acknowledged_to_nobody() throws Exception {
    Path data = folder.resolve("primary");
    Path copy = folder.resolve("standby");
    DatabaseServer primary = startPrimary(data, copy);
    DatabaseServer standby = new DatabaseServer(copy, 0);
    Map<String, String> environment =
        primary.database().environment(Map.of("DATABASE_TIMEOUT_SECONDS", "1"));
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      awaitCreated(service, 1);

      standby.close();
      for (int round = 0; round < 2; round++) {
        assertRefused(service);
      }
      awaitSessions(primary.database());

      primary.kill();
      primary.restart();
      assertEquals("1 2", idsOf(primary), "committed, but not confirmed");
      service.awaitReady();
      assertRefused(service);

      standby = new DatabaseServer(copy, 0);
      awaitCreated(service, 2);
      standby.database().execute("SELECT pg_promote()");
      assertEquals("1 2", idsOf(standby));
    } finally {
      standby.close();
      primary.close();
    }
  }

  /** Creates, some of them of the same plant. */
  private void assertRefused(ServiceProcess service) throws Exception {
    List<Future<Integer>> statuses = new ArrayList<>();
    for (long caller = 0; caller < CALLERS; caller++) {
      long id = 2 + caller / 2;
      statuses.add(callers.submit(() -> service.create(id, "fern").statusCode()));
    }
    for (Future<Integer> status : statuses) {
      assertEquals(503, status.get());
    }
  }

  private static void awaitCreated(ServiceProcess service, long id) {
    Await.until("it is created", () -> service.create(id, "fern").statusCode() == 200);
  }

  /** Waits until no session is left that waits for a standby in vain. */
  private static void awaitSessions(Database database) {
    String query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'";
    Await.until(
        "few sessions are left", () -> Integer.parseInt(database.single(query)) <= SESSIONS);
  }

  /** Starts a server and its standby. */
  private static DatabaseServer startPrimary(Path data, Path copy)
      throws IOException, SQLException {
    DatabaseServer primary = new DatabaseServer(data, 0);
    primary.database().execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.close();
    Program.run(Path.of("."), Map.of(), "cp", "-a", data.toString(), copy.toString())
        .requireSuccess();
    Files.createFile(copy.resolve("standby.signal"));
    Files.writeString(
        copy.resolve("postgresql.auto.conf"),
        "primary_conninfo = 'host=localhost port=" + primary.port() + " user=postgres'\n");
    primary.restart();
    return primary;
  }

  private static String idsOf(DatabaseServer server) throws SQLException {
    return server
        .database()
        .single("SELECT string_agg(id::text, ' ' ORDER BY id) FROM plant WHERE id <= 2");
  }
}
