package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.plantstore.fixture.DatabaseServer;

/** A primary and a standby that is promoted. After the promotion, both are primaries. */
@Tag("slow")
@Isolated
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FailOverTest {

  private static final int WRITERS = 16;
  private static final int PROGRESS = 10 * WRITERS;

  /** A query that returns true if only the sessions of the pool and the probe remain. */
  private static final String NO_SESSION_IS_STUCK =
      "SELECT count(*) <= 5 FROM pg_stat_activity WHERE application_name = 'plant-store'";

  /** These ids are negative, because {@link Writers} uses positive ids. */
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
  void plant_is_not_acknowledged_before_the_synchronous_standby_has_stored_it() throws Exception {
    set(first, "synchronous_standby_names", "'*'");
    try (ServiceProcess service = start(1, "localhost:" + first.port() + "/postgres")) {
      awaitCreated(service, -1);

      second.close();
      for (int round = 0; round < 2 || !idsOf(first).equals("-2 -1"); round++) {
        assertRefused(service); // the primary commits the plants unless it stalls
      }
      Await.until(() -> assertEquals("t", Database.of(first).single(NO_SESSION_IS_STUCK)));

      first.kill();
      first.restart();
      assertEquals("-2 -1", idsOf(first), "must be committed by the primary");
      service.awaitReady();
      assertRefused(service);

      second.restart();
      awaitCreated(service, -2);
      assertEquals("-2 -1", idsOf(second));
    }
    set(first, "synchronous_standby_names", "''");
  }

  /** Sends create requests, some of which contain the same plant, and expects 503 for each. */
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
    return Database.of(server).single(query);
  }

  @Test
  @Order(2)
  @Timeout(900)
  void creates_wait_for_a_restarting_primary_and_follow_a_promoted_standby() throws Throwable {
    String hosts = "localhost:" + first.port() + ",localhost:" + second.port() + "/postgres";
    try (ServiceProcess service = start(60, hosts);
        Writers writers = new Writers(WRITERS, service::address)) {
      writers.awaitProgress(PROGRESS);
      first.kill();
      first.restart();
      writers.awaitProgress(PROGRESS);
      writers.stopWithoutRetries();

      String reason =
          StartupTest.refusal(
              Database.environmentAt(
                  "localhost:" + second.port() + "/postgres",
                  "DATABASE_START_TIMEOUT_SECONDS",
                  "0"));
      assertTrue(
          reason.endsWith(
              ": DATABASE_URL reaches only a standby; add the primary's host (SQLSTATE 25006)"),
          reason);
      first.kill();
      Database.of(second).execute("SELECT pg_promote()");
      awaitServed(service);

      first.restart();
      List<DatabaseServer> servers = new ArrayList<>(List.of(second, first));
      TimeLimits.check(() -> {
        Collections.reverse(servers);
        // A server becomes read-only, like a standby, but keeps its connections open.
        set(servers.get(0), "default_transaction_read_only", "off");
        set(servers.get(1), "default_transaction_read_only", "on");
        assertServedSoon(service);
      });
      for (DatabaseServer server : servers) {
        set(server, "default_transaction_read_only", "off");
      }
    }
  }

  @Test
  @Order(3)
  @EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux has the address 127.0.0.2")
  @Timeout(900)
  void host_name_with_a_new_address_is_followed_when_old_connections_fall_silent()
      throws Throwable {
    TimeLimits.check(this::followHostName);
  }

  private void followHostName() throws Throwable {
    // No server listens on the first of the two addresses.
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
      awaitServed(service);

      old.abandonConnections();
      old.setTarget(-1); // closes new connections
      Files.writeString(names, "127.0.0.1 localhost\n127.0.0.2 database\n");
      assertServedSoon(service);

      // For a while, the name does not resolve.
      Files.writeString(names, "127.0.0.1 localhost\n");
      other.refuse();
      service.awaitReadiness(503);
      other.heal();
      Files.writeString(names, "127.0.0.1 localhost\n127.0.0.2 database\n");
      assertServedSoon(service);

      // The address now leads to a different server.
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

  /** The limit is 5 s, or the deadline plus 2 s. */
  private static void assertServedSoon(ServiceProcess service) throws Throwable {
    TimeLimits.within(Duration.ofSeconds(5), "recovery", () -> awaitServed(service));
  }

  /**
   * Waits for ten successful create requests in a row, because any connection in the pool may lead
   * to the wrong server.
   */
  private static void awaitServed(ServiceProcess service) {
    Await.until(() -> {
      for (int create = 0; create < 10; create++) {
        assertEquals(200, service.create(NEXT_ID.incrementAndGet(), "fern").statusCode());
      }
    });
  }

  private static void set(DatabaseServer server, String name, String value) throws SQLException {
    Database.of(server)
        .execute(
            "SET default_transaction_read_only = off",
            "ALTER SYSTEM SET " + name + " = " + value,
            "SELECT pg_reload_conf()");
  }
}
