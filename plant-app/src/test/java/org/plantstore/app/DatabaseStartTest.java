package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
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

  @Test
  void start_waits_visibly_with_closed_ports_for_a_database_that_is_down(@TempDir Path data)
      throws IOException {
    int port = ServiceProcess.freePort();
    try (ServiceProcess service = start(port, Map.of())) {
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
    try (ServiceProcess service = start(ServiceProcess.freePort(), Map.of())) {
      service.awaitLine(WAITS);

      assertEquals(ServiceProcess.TERMINATED, service.stop());
      assertEquals("", service.errors());
    }
  }

  @Test
  void start_gives_up_with_one_line_when_the_time_is_over() {
    Map<String, String> patience = Map.of("DATABASE_START_TIMEOUT_SECONDS", "2");
    try (ServiceProcess service = start(ServiceProcess.freePort(), patience)) {
      assertRefused(
          service, "the database cannot be used, not even after 2 s; check DATABASE_URL, .*");
      assertEquals(1, service.output().lines().count(), service.output());
    }
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
  void start_on_the_second_of_two_hosts_does_not_need_the_first() throws Exception {
    Database database = Database.create();
    try (ServerSocket silent = new ServerSocket(0)) {
      for (int first : List.of(ServiceProcess.freePort(), silent.getLocalPort())) {
        String address =
            String.format(
                Locale.ROOT,
                "jdbc:postgresql://localhost:%d,localhost:%d/%s?sslmode=disable",
                first,
                database.port(),
                database.name());
        try (ServiceProcess service = new ServiceProcess(Database.environment(address))) {
          assertServes(service);
        }
      }
    }
  }

  @Test
  void start_gives_up_with_one_line_while_its_tables_are_locked() throws Exception {
    Database database = Database.create();
    new ServiceProcess(database.environment()).awaitReady().close(); // makes the tables
    Map<String, String> patience = Map.of("DATABASE_START_TIMEOUT_SECONDS", "2");
    try (Connection locker = database.lock("flyway_schema_history");
        ServiceProcess service = new ServiceProcess(database.environment(patience))) {
      assertRefused(
          service,
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
    String sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'frugal'";
    Map<String, String> environment =
        database.environment(
            Map.of("DATABASE_USERNAME", "frugal", "DATABASE_START_TIMEOUT_SECONDS", "5"));
    for (int start = 1; start <= 2; start++) {
      try (ServiceProcess service = new ServiceProcess(environment)) {
        assertServes(service);
        Await.until("5 sessions", () -> database.single(sessions).equals("5"));
        assertEquals(ServiceProcess.TERMINATED, service.stop());
      }
      Await.until("no sessions", () -> database.single(sessions).equals("0"));
    }
  }

  private static ServiceProcess start(int port, Map<String, String> settings) {
    return new ServiceProcess(new Database(port, "postgres").environment(settings));
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

  private static void assertRefused(ServiceProcess service, String reason) {
    assertEquals(1, service.awaitExit());
    String line = "plant-store does not start: " + reason + "\n";
    assertTrue(service.errors().matches(line), service.errors());
  }
}
