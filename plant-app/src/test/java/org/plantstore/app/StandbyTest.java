package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
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

  /** Whether only the connections of the pool and of the probe are left, and none that waits. */
  private static final String ARE_FEW_SESSIONS =
      "SELECT count(*) <= 5 FROM pg_stat_activity WHERE application_name = 'plant-store'";

  @TempDir Path folder;

  private Path copy;
  @AutoClose private DatabaseServer primary;
  @AutoClose private DatabaseServer standby;

  @BeforeEach
  void start() throws IOException, SQLException {
    Path data = folder.resolve("primary");
    primary = new DatabaseServer(data);
    primary.database().execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.close();
    copy = folder.resolve("standby");
    Program.run(folder, Map.of(), "cp", "-a", data.toString(), copy.toString()).requireSuccess();
    Files.createFile(copy.resolve("standby.signal"));
    Files.writeString(
        copy.resolve("postgresql.auto.conf"),
        "primary_conninfo = 'host=localhost port=" + primary.port() + " user=postgres'\n");
    primary.restart();
    standby = new DatabaseServer(copy);
  }

  @Test
  void plant_that_no_standby_has_is_acknowledged_to_nobody() throws Exception {
    Map<String, String> environment =
        primary.database().environment(Map.of("DATABASE_TIMEOUT_SECONDS", "1"));
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      awaitCreated(service, 1);

      standby.close();
      for (int round = 0; round < 2; round++) {
        assertRefused(service);
      }
      Database database = primary.database();
      Await.until("few sessions", () -> database.single(ARE_FEW_SESSIONS).equals("t"));

      primary.kill();
      primary.restart();
      assertEquals("1 2", idsOf(primary), "committed, but not confirmed");
      service.awaitReady();
      assertRefused(service);

      standby = new DatabaseServer(copy);
      awaitCreated(service, 2);
      standby.database().execute("SELECT pg_promote()");
      assertEquals("1 2", idsOf(standby));
    }
  }

  /** Creates, some of them of the same plant. */
  private static void assertRefused(ServiceProcess service) {
    LongStream.range(0, CALLERS)
        .mapToObj(caller -> "{\"id\":" + (2 + caller / 2) + ",\"name\":\"fern\"}")
        .map(service::beginCreate)
        .toList()
        .forEach(answer -> assertEquals(503, answer.join().statusCode()));
  }

  private static void awaitCreated(ServiceProcess service, long id) {
    Await.until("it is created", () -> service.create(id, "fern").statusCode() == 200);
  }

  private static String idsOf(DatabaseServer server) throws SQLException {
    String query = "SELECT string_agg(id::text, ' ' ORDER BY id) FROM plant WHERE id <= 2";
    return server.database().single(query);
  }
}
