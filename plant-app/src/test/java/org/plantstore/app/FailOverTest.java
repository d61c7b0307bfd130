package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** A primary and its standby, which takes over; later both are primaries. */
@Tag("slow")
@Isolated
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FailOverTest {

  private static final int WRITERS = 16;
  private static final int PROGRESS = 10 * WRITERS;

  /** Whether only the connections of the pool and of the probe are left, and none that waits. */
  private static final String ARE_FEW_SESSIONS =
      "SELECT count(*) <= 5 FROM pg_stat_activity WHERE application_name = 'plant-store'";

  /** Those of {@link Writers} are positive. */
  private static final AtomicLong NEXT_ID = new AtomicLong(Long.MIN_VALUE);

  @TempDir static Path folder;

  @AutoClose private static DatabaseServer first;
  @AutoClose private static DatabaseServer second;

  @BeforeAll
  static void start() throws IOException {
    Path data = folder.resolve("first");
    first = new DatabaseServer(data);
    first.close();
    Path copy = folder.resolve("second");
    Program.run(folder, Map.of(), "cp", "-a", data.toString(), copy.toString()).requireSuccess();
    Files.createFile(copy.resolve("standby.signal"));
    Files.writeString(
        copy.resolve("postgresql.auto.conf"),
        "primary_conninfo = 'host=localhost port=" + first.port() + " user=postgres'\n");
    first.restart();
    second = new DatabaseServer(copy);
  }

  @Test
  @Order(1)
  void plant_that_no_standby_has_is_acknowledged_to_nobody() throws Exception {
    set(first, "synchronous_standby_names", "'*'");
    try (ServiceProcess service = start(1, "localhost:" + first.port() + "/postgres")) {
      awaitCreated(service, -1);

      second.close();
      for (int round = 0; round < 2; round++) {
        assertRefused(service);
      }
      Await.until(() -> assertEquals("t", first.database().single(ARE_FEW_SESSIONS)));

      first.kill();
      first.restart();
      assertEquals("-2 -1", idsOf(first), "committed, but not confirmed");
      service.awaitReady();
      assertRefused(service);

      second.restart();
      awaitCreated(service, -2);
      assertEquals("-2 -1", idsOf(second));
    }
    set(first, "synchronous_standby_names", "''");
  }

  /** Creates, some of them of the same plant. */
  private static void assertRefused(ServiceProcess service) {
    LongStream.range(0, 8)
        .mapToObj(caller -> service.beginCreate(ServiceProcess.json(-2 - caller / 2, "fern")))
        .toList()
        .forEach(answer -> assertEquals(503, answer.join().statusCode()));
  }

  private static void awaitCreated(ServiceProcess service, long id) {
    Await.until(() -> assertEquals(200, service.create(id, "fern").statusCode()));
  }

  private static String idsOf(DatabaseServer server) throws SQLException {
    String query = "SELECT string_agg(id::text, ' ' ORDER BY id) FROM plant WHERE id >= -2";
    return server.database().single(query);
  }

  @Test
  @Order(2)
  void restart_of_the_primary_is_waited_for_and_a_new_primary_is_followed() throws Exception {
    String hosts = "localhost:" + first.port() + ",localhost:" + second.port() + "/postgres";
    try (ServiceProcess service = start(30, hosts);
        Writers writers = new Writers(WRITERS, service::address)) {
      writers.awaitProgress(PROGRESS);
      first.kill();
      first.restart();
      writers.awaitProgress(PROGRESS);
      writers.stopWithoutRepeats();

      String reason =
          StartTest.refusal(
              Database.environmentAt(
                  "localhost:" + second.port() + "/postgres",
                  "DATABASE_START_TIMEOUT_SECONDS",
                  "0"));
      assertTrue(
          reason.endsWith(
              ": DATABASE_URL leads only to a standby; name the primary (SQLSTATE 25006)"),
          reason);
      first.kill();
      second.database().execute("SELECT pg_promote()");
      assertServedSoon(service);

      // The second looks like a standby, and keeps its connections.
      first.restart();
      set(second, "default_transaction_read_only", "on");
      assertServedSoon(service);
      set(second, "default_transaction_read_only", "off");
    }
  }

  @Test
  @Order(3)
  @EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere 127.0.0.2 is no address")
  void name_that_means_another_address_is_followed_from_connections_that_fell_silent()
      throws Exception {
    // Of the two addresses one is dead.
    String both = "127.0.0.3 database\n127.0.0.1 localhost database\n";
    Path names = Files.writeString(folder.resolve("hosts"), both);
    try (NetworkProxy old = new NetworkProxy(first.port());
        NetworkProxy other =
            new NetworkProxy(InetAddress.getByName("127.0.0.2"), old.port(), second.port(), 1);
        ServiceProcess service =
            start(
                2,
                "database:" + old.port() + "/postgres",
                "JDK_JAVA_OPTIONS",
                "-Djdk.net.hosts.file=" + names)) {
      assertServedSoon(service);

      old.abandonConnections();
      old.setTarget(-1); // new connections are closed
      Files.writeString(names, "127.0.0.1 localhost\n127.0.0.2 database\n");
      assertServedSoon(service);

      // The name does not resolve for a while.
      Files.writeString(names, "127.0.0.1 localhost\n");
      other.refuse();
      service.awaitReadiness(503);
      other.heal();
      Files.writeString(names, "127.0.0.1 localhost\n127.0.0.2 database\n");
      assertServedSoon(service);

      // The same address leads to another server.
      other.abandonConnections();
      other.setTarget(first.port());
      assertServedSoon(service);
    }
  }

  private static ServiceProcess start(int deadline, String address, String... settings) {
    Map<String, String> environment = Database.environmentAt(address, settings);
    environment.put("DATABASE_TIMEOUT_SECONDS", String.valueOf(deadline));
    return new ServiceProcess(environment).awaitReady();
  }

  /** Ten in a row, because any connection of the pool may lead to the wrong server. */
  private static void assertServedSoon(ServiceProcess service) {
    Duration limit = Duration.ofSeconds(7); // of 5, or the deadline and 2, for a busy machine
    assertTimeout(
        limit,
        () ->
            Await.until(() -> {
              for (int create = 0; create < 10; create++) {
                assertEquals(200, service.create(NEXT_ID.incrementAndGet(), "fern").statusCode());
              }
            }));
  }

  private static void set(DatabaseServer server, String name, String value) throws SQLException {
    server
        .database()
        .execute(
            "SET default_transaction_read_only = off",
            "ALTER SYSTEM SET " + name + " = " + value,
            "SELECT pg_reload_conf()");
  }
}
