package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A start waits for a database that is down, and ends at once if waiting cannot help. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class DatabaseStartTest {

  private static final String WAITS = "The database is unavailable; the start has waited for ";

  private static final Map<String, String> IMPATIENCE =
      Map.of("DATABASE_START_TIMEOUT_SECONDS", "1");

  @Test
  void start_waits_visibly_with_closed_ports_for_a_database_that_is_down(@TempDir Path data)
      throws IOException {
    int port = ServiceProcess.freePort();
    try (ServiceProcess service = start(port)) {
      String reason = " s of 60 s: Connection to 127.0.0.1:" + port;
      assertTrue(service.awaitLine(WAITS).contains(reason), service::output);
      Await.until("it says so again", () -> service.linesWith(reason) > 1);
      assertFalse(service.isOpen(), "the port is open");
      assertEquals(-1, service.readiness(), "the management port is open");

      try (DatabaseServer server = new DatabaseServer(data, port)) {
        assertEquals(port, server.port());
        assertServes(service);
      }
    }
  }

  @Test
  void start_that_waits_ends_when_it_is_asked_to() {
    try (ServiceProcess service = start(ServiceProcess.freePort())) {
      service.awaitLine(WAITS);

      assertEquals(ServiceProcess.TERMINATED, service.stop());
      assertEquals("", service.errors());
    }
  }

  @Test
  void start_gives_up_when_the_time_is_over() {
    Map<String, String> environment =
        new Database(ServiceProcess.freePort(), "postgres").environment(IMPATIENCE);
    assertRefused(
        environment, "the database cannot be used, not even after 1 s; check DATABASE_URL, .*");
  }

  @Test
  void start_does_not_wait_for_what_waiting_cannot_mend(@TempDir Path data) throws Exception {
    try (DatabaseServer server = new DatabaseServer(data, 0)) {
      String address = "jdbc:postgresql://localhost:" + server.port();
      assertRefusedAtOnce(address + "/missing", "(SQLSTATE 3D000)");
      assertRefusedAtOnce(
          address + "/postgres?sslmode=require",
          "The server does not support SSL. (SQLSTATE 08004)");

      Files.writeString(data.resolve("pg_hba.conf"), "host all all all scram-sha-256\n");
      server.database().execute("ALTER ROLE postgres PASSWORD 'x'; SELECT pg_reload_conf()");
      assertRefusedAtOnce(address + "/postgres", "(SQLSTATE 28P01)");
    }
  }

  @Test
  void start_on_the_last_of_three_hosts_does_not_need_the_others() throws Exception {
    Database database = Database.create();
    try (ServerSocket silent = new ServerSocket(0)) {
      String address =
          String.format(
              Locale.ROOT,
              "jdbc:postgresql://localhost:%d,localhost:%d,localhost:%d/%s?sslmode=disable",
              ServiceProcess.freePort(),
              silent.getLocalPort(),
              database.port(),
              database.name());
      StartTest.start(Database.environment(address));
    }
  }

  @Test
  void start_gives_up_while_its_tables_are_locked() throws Exception {
    Database database = Database.create();
    StartTest.start(database.environment()); // makes the tables
    try (Connection locker = database.lock("flyway_schema_history")) {
      assertRefused(
          database.environment(IMPATIENCE),
          "the tables of the database cannot be brought up to date: canceling statement due to"
              + " lock timeout \\(SQLSTATE 55P03\\)");
      locker.rollback();
    }
  }

  @Test
  void start_needs_no_more_connections_than_the_service() throws Exception {
    Database database = Database.create();
    database.execute(
        "CREATE ROLE frugal LOGIN CONNECTION LIMIT 5", "GRANT CREATE ON SCHEMA public TO frugal");
    Map<String, String> environment =
        database.environment(
            Map.of("DATABASE_USERNAME", "frugal", "DATABASE_START_TIMEOUT_SECONDS", "5"));
    try (ServiceProcess service = new ServiceProcess(environment)) {
      assertServes(service);
      String sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'frugal'";
      Await.until("5 sessions", () -> database.single(sessions).equals("5"));
    }
  }

  private static ServiceProcess start(int port) {
    return new ServiceProcess(new Database(port, "postgres").environment());
  }

  private static void assertServes(ServiceProcess service) {
    service.awaitReady();
    assertEquals(200, service.create(1, "fern").statusCode());
    assertEquals("", service.errors());
  }

  /** The reason of a start that has waited says for how long. */
  private static void assertRefusedAtOnce(String address, String reason) {
    String refusal = StartTest.refusal(Database.environment(address));
    assertTrue(refusal.startsWith("the database cannot be used; check DATABASE_URL, "), refusal);
    assertTrue(refusal.endsWith(reason), refusal);
  }

  private static void assertRefused(Map<String, String> environment, String reason) {
    String refusal = StartTest.refusal(environment);
    assertTrue(refusal.matches(reason), refusal);
  }
}
