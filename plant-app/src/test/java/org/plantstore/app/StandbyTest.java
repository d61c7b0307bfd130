package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.app.EmbeddedDatabase.execute;
import static org.plantstore.app.EmbeddedDatabase.single;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A database that confirms a commit when a standby has it, and a standby that goes and returns. */
@Tag("slow")
@Timeout(300)
class StandbyTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int CALLERS = 8;

  /** Of the pool and of the one that watches the database. */
  private static final int SESSIONS = 5;

  @TempDir Path folder;

  private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);

  @Test
  void plant_that_no_standby_has_is_acknowledged_to_nobody() throws Exception {
    Path data = folder.resolve("primary");
    Path copy = folder.resolve("standby");
    EmbeddedPostgres primary = startPrimary(data, copy);
    EmbeddedPostgres standby = EmbeddedDatabase.start(copy, 0);
    Map<String, String> environment = EmbeddedDatabase.environment(primary);
    environment.put("DATABASE_TIMEOUT_SECONDS", "1");
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      awaitCreated(service, 1);

      standby.close();
      for (int round = 0; round < 4; round++) {
        assertRefused(service);
      }
      awaitSessions(primary);

      EmbeddedDatabase.kill(primary, data);
      primary = EmbeddedDatabase.restart(data, primary.getPort());
      assertEquals("1 2", idsOf(primary, "id <= 2"), "was committed, but by nobody confirmed");
      service.awaitReadiness(200);
      for (int round = 0; round < 2; round++) {
        assertRefused(service);
      }

      standby = EmbeddedDatabase.start(copy, 0);
      awaitCreated(service, 2);
      execute(standby, "SELECT pg_promote()");
      assertEquals("1 2", idsOf(standby, "id <= 2"));
    } finally {
      callers.shutdownNow();
      standby.close();
      primary.close();
    }
  }

  /** Some of the same plant and some of others. */
  private void assertRefused(ServiceProcess service) throws Exception {
    List<Future<Integer>> statuses = new ArrayList<>();
    for (long caller = 0; caller < CALLERS; caller++) {
      long id = 2 + caller / 2;
      statuses.add(callers.submit(() -> create(service, id)));
    }
    for (Future<Integer> status : statuses) {
      assertEquals(503, status.get());
    }
  }

  private static int create(ServiceProcess service, long id) {
    return service.create("{\"id\":%d,\"name\":\"fern\"}".formatted(id)).statusCode();
  }

  private static void awaitCreated(ServiceProcess service, long id) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    int status;
    do {
      status = create(service, id);
    } while (status == 503 && System.nanoTime() < deadline);
    assertEquals(200, status);
  }

  /** One that waits for its standby leaves no session behind whose caller has given up. */
  private static void awaitSessions(EmbeddedPostgres server) throws SQLException {
    long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    int sessions = Integer.MAX_VALUE;
    while (sessions > SESSIONS) {
      assertTrue(System.nanoTime() < deadline, "there are " + sessions + " sessions");
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
      sessions =
          Integer.parseInt(
              single(
                  server,
                  "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'"));
    }
  }

  /** Starts a server, and makes a copy that follows it. */
  private static EmbeddedPostgres startPrimary(Path data, Path copy)
      throws IOException, SQLException {
    EmbeddedPostgres alone = EmbeddedDatabase.start(data, 0);
    int port = alone.getPort();
    execute(alone, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    alone.close();
    copy(data, copy);
    Files.createFile(copy.resolve("standby.signal"));
    Files.writeString(
        copy.resolve("postgresql.auto.conf"),
        "primary_conninfo = 'host=localhost port=" + port + " user=postgres'\n");
    return EmbeddedDatabase.restart(data, port);
  }

  private static void copy(Path data, Path copy) throws IOException {
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(data.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  private static String idsOf(EmbeddedPostgres server, String condition) throws SQLException {
    return single(
        server, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM plant WHERE " + condition);
  }
}
