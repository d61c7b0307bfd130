package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;

/** A start before the database is there, which waits, and a start that no waiting would help. */
@Tag("slow")
class DatabaseStartTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String WAITS = "The database is not there; waiting for it since ";

  @Test
  @Execution(CONCURRENT)
  void start_waits_visibly_with_closed_ports_for_a_database_that_is_down(@TempDir Path data)
      throws IOException {
    int port = ServiceProcess.freePort();
    try (ServiceProcess service = new ServiceProcess(environment(port, "postgres"))) {
      service.awaitLine(WAITS + "0 s, for 60 s at most: Connection to localhost:" + port);
      service.awaitLine(WAITS + "5 s, for 60 s at most: Connection to localhost:" + port);
      assertFalse(service.isOpen(), "the port is open");
      assertFalse(service.isManagementOpen(), "the management port is open");

      try (EmbeddedPostgres database = EmbeddedDatabase.start(data, port)) {
        assertEquals(port, database.getPort());
        service.awaitReady();
        assertEquals(200, service.create("{\"id\":1,\"name\":\"fern\"}").statusCode());
        assertEquals("", service.errors());
      }
    }
  }

  @Test
  @Execution(CONCURRENT)
  void start_that_waits_ends_when_it_is_asked_to() {
    Map<String, String> environment = environment(ServiceProcess.freePort(), "postgres");
    try (ServiceProcess service = new ServiceProcess(environment)) {
      service.awaitLine(WAITS);

      service.terminate();

      assertEquals(0, service.awaitExit(LIMIT));
      assertEquals("", service.errors());
    }
  }

  @Test
  @Execution(CONCURRENT)
  void start_gives_up_with_one_line_when_the_time_is_over() throws IOException {
    Map<String, String> environment = environment(ServiceProcess.freePort(), "postgres");
    environment.put("DATABASE_START_TIMEOUT_SECONDS", "2");
    try (ServiceProcess service = new ServiceProcess(environment)) {
      assertEquals(1, service.awaitExit(LIMIT));
      assertTrue(
          service
              .errors()
              .startsWith(
                  "plant-store does not start: the database cannot be used, not even after 2 s;"
                      + " check DATABASE_URL, "),
          service.errors());
      assertEquals(1, service.errors().lines().count(), service.errors());
      assertEquals(1, service.output().lines().count(), service.output());
    }
  }

  @Test
  @Execution(CONCURRENT)
  void start_does_not_wait_for_what_waiting_cannot_mend(@TempDir Path data)
      throws IOException, SQLException {
    try (EmbeddedPostgres database = EmbeddedDatabase.start(data, 0)) {
      assertRefusedAtOnce(environment(database.getPort(), "missing"), "(SQLSTATE 3D000)");
      assertRefusedAtOnce(
          environment(database.getPort(), "postgres?sslmode=require"),
          "The server does not support SSL. (SQLSTATE 08004)");

      Files.writeString(data.resolve("pg_hba.conf"), "host all all all scram-sha-256\n");
      EmbeddedDatabase.execute(
          database, "ALTER ROLE postgres PASSWORD 'another'; SELECT pg_reload_conf()");
      assertRefusedAtOnce(environment(database.getPort(), "postgres"), "(SQLSTATE 28P01)");
    }
  }

  @Test
  @Execution(CONCURRENT)
  void start_on_the_second_of_two_hosts_does_not_need_the_first() throws IOException {
    try (EmbeddedPostgres database = EmbeddedDatabase.start();
        ServerSocket silent = new ServerSocket(0)) {
      for (int first : List.of(ServiceProcess.freePort(), silent.getLocalPort())) {
        Map<String, String> environment =
            EmbeddedDatabase.environment(
                "jdbc:postgresql://localhost:%d,localhost:%d/postgres?sslmode=disable"
                    .formatted(first, database.getPort()));
        try (ServiceProcess service = new ServiceProcess(environment)) {
          service.awaitReady();
          assertEquals(200, service.create("{\"id\":1,\"name\":\"fern\"}").statusCode());
          assertEquals("", service.errors());
        }
      }
    }
  }

  @Test
  @Execution(CONCURRENT)
  void start_gives_up_with_one_line_while_its_tables_are_locked() throws Exception {
    try (EmbeddedPostgres database = EmbeddedDatabase.start()) {
      Map<String, String> environment = EmbeddedDatabase.environment(database);
      new ServiceProcess(environment).awaitReady().close(); // makes the tables
      environment.put("DATABASE_START_TIMEOUT_SECONDS", "2");
      try (Connection locker = database.getPostgresDatabase().getConnection()) {
        locker.setAutoCommit(false);
        locker.createStatement().execute("LOCK TABLE flyway_schema_history");

        try (ServiceProcess service = new ServiceProcess(environment)) {
          assertEquals(1, service.awaitExit(LIMIT));
          assertEquals(
              "plant-store does not start: the tables of the database cannot be brought up to date:"
                  + " canceling statement due to lock timeout (SQLSTATE 55P03)",
              service.errors().strip());
        }
      }
    }
  }

  @Test
  @Execution(CONCURRENT)
  void start_needs_no_more_connections_than_the_service() throws Exception {
    try (EmbeddedPostgres database = EmbeddedDatabase.start();
        Connection connection = database.getPostgresDatabase().getConnection()) {
      connection
          .createStatement()
          .execute(
              "CREATE ROLE gardener LOGIN CONNECTION LIMIT 5;"
                  + " GRANT CREATE ON SCHEMA public TO gardener");
      Map<String, String> environment = EmbeddedDatabase.environment(database);
      environment.put("DATABASE_USERNAME", "gardener");
      environment.put("DATABASE_START_TIMEOUT_SECONDS", "5");
      for (int start = 1; start <= 2; start++) {
        try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
          assertEquals(200, service.create("{\"id\":1,\"name\":\"fern\"}").statusCode());
          awaitSessions(connection, 5);
          service.stop();
          assertEquals("", service.errors());
        }
        awaitSessions(connection, 0);
      }
    }
  }

  private static void awaitSessions(Connection connection, int number) throws SQLException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    int sessions;
    do {
      assertTrue(System.nanoTime() < deadline, "there are not " + number + " sessions");
      try (ResultSet count =
          connection
              .createStatement()
              .executeQuery("SELECT count(*) FROM pg_stat_activity WHERE usename = 'gardener'")) {
        count.next();
        sessions = count.getInt(1);
      }
    } while (sessions != number);
  }

  private static void assertRefusedAtOnce(Map<String, String> environment, String reason) {
    try (ServiceProcess service = new ServiceProcess(environment)) {
      assertEquals(1, service.awaitExit(LIMIT));
      assertTrue(service.errors().strip().endsWith(reason), service.errors());
      assertEquals(1, service.errors().lines().count(), service.errors());
      assertEquals("", service.output());
    }
  }

  private static Map<String, String> environment(int port, String name) {
    return EmbeddedDatabase.environment("jdbc:postgresql://localhost:" + port + "/" + name);
  }
}
