package org.plantstore.adapter.persistence.requirement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.DatabaseServer;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/** Which settings and databases a start refuses, and with which advice. */
class RequirementsTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", "shade");

  private static final String CREATE_GARDENER =
      "DO $$ BEGIN CREATE ROLE gardener LOGIN; EXCEPTION WHEN duplicate_object THEN END $$";
  private static final Map<String, Object> GARDENER = Map.of("database.username", "gardener");

  private static final DatabaseServer SERVER = DatabaseServer.shared();

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          mysql://localhost/plants                          | be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants
          postgresql://localhost:99999/plants               | be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants
          postgresql://plants:canary@localhost:5432/plants  | not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          postgresql://localhost:5432/plants?user=plants    | not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          postgresql://localhost:99999/p?password=canary    | not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          postgresql://localhost/p?ssl=true&password=canary | not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          """)
  void start_with_an_unusable_address_is_refused(String address, String reason) {
    assertRefused(Map.of("database.url", "jdbc:" + address), "DATABASE_URL must " + reason);
  }

  @Test
  void account_in_an_address_with_a_line_break_is_refused() {
    assertRefused(
        Map.of("database.url", "jdbc:postgresql://plants:canary@localhost:5432/plants\n"),
        "DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD");
  }

  @Test
  void start_that_migrates_without_the_rights_for_it_is_refused() {
    SERVER.execute(CREATE_GARDENER, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    String refusal =
        "gardener must be allowed to create the tables, and to change them; if another account does"
            + " that with plant-store migrate, set DATABASE_MIGRATE to off";
    assertRefused(GARDENER, refusal);

    SERVER.connect().close(); // makes the table
    SERVER.execute("GRANT INSERT, SELECT ON plant TO gardener");
    assertRefused(GARDENER, refusal);

    SERVER.execute("ALTER ROLE gardener SET search_path = later");
    try {
      assertRefused(GARDENER, refusal);
    } finally {
      SERVER.execute("ALTER ROLE gardener RESET search_path");
    }
  }

  @Test
  void start_without_the_right_to_use_the_table_is_refused() {
    SERVER.execute(CREATE_GARDENER);
    SERVER.connect().close(); // makes the table

    assertRefused(
        Map.of("database.username", "gardener", "database.migrate", "off"),
        "gardener must be allowed to insert into and to select from the table plant");
  }

  @Test
  void start_on_a_read_only_database_is_refused() {
    SERVER.execute("ALTER ROLE postgres SET default_transaction_read_only = on");

    assertRefused(Map.of(), "the database must be writable for postgres, but is read-only");
  }

  @Test
  void start_in_a_schema_with_other_tables_makes_the_table() {
    SERVER.execute("CREATE TABLE IF NOT EXISTS animal (id bigint)");
    try (ApplicationContext instance = SERVER.connect()) {
      assertEquals(FERN, instance.getBean(PlantStore.class).putIfAbsent(FERN));
    } finally {
      SERVER.execute("DROP TABLE animal");
    }
  }

  /** Each byte of the answer comes within the time-out of a read. */
  @Test
  @Timeout(20)
  void start_with_a_server_that_answers_byte_by_byte_is_refused_in_time() throws Exception {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    CountDownLatch refused = new CountDownLatch(1);
    try (ServerSocket slow = new ServerSocket(0)) {
      Future<?> answering = thread.submit(() -> answerSlowly(slow, refused));

      String url = "jdbc:postgresql://localhost:" + slow.getLocalPort() + "/plants?sslmode=disable";
      String message = refusal(Map.of("database.url", url));

      refused.countDown();
      answering.get();
      assertTrue(message.startsWith("the database cannot be used; check DATABASE_URL"), message);
    } finally {
      thread.shutdownNow();
    }
  }

  /** Answers with an error of 44 bytes, which takes 40 s, unless the end comes earlier. */
  private static Void answerSlowly(ServerSocket server, CountDownLatch end) throws Exception {
    try (Socket client = server.accept()) {
      OutputStream answer = client.getOutputStream();
      answer.write(new byte[] {'E', 0, 0, 0, 44});
      for (int sent = 4; sent < 44 && !end.await(1, TimeUnit.SECONDS); sent++) {
        answer.write('x');
        answer.flush();
      }
    }
    return null;
  }

  @Test
  void start_with_an_encoding_that_cannot_keep_every_name_is_refused() {
    SERVER.execute(
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");

    assertRefused(
        Map.of("database.url", SERVER.url("latin")),
        "the database must have the encoding UTF8 to keep every name, but has LATIN1");
  }

  @Test
  void start_on_a_server_that_is_too_old_is_refused() {
    assertEquals(
        "the database must be PostgreSQL 14 or later, but is 13",
        assertThrows(ConfigurationException.class, () -> state(13).requireVersion()).getMessage());
    assertEquals("PostgreSQL 14", state(14).requireVersion());
  }

  private static DatabaseState state(int version) {
    return new DatabaseState("plants", version, "UTF8", false, false, true, true, "", true, false);
  }

  @Test
  void password_is_used_as_it_is_written_and_not_told() {
    try (ApplicationContext instance =
        SERVER.connect(Map.of("database.password", "a${secret}$$"))) {
      DatabaseAccess access = DatabaseAccess.of(instance.getEnvironment());
      assertEquals("a${secret}$$", access.password());
      assertEquals("postgres at " + SERVER.url("postgres"), access.toString());
    }
  }

  @Test
  void migrations_may_take_longer_than_a_create() throws Exception {
    SERVER.connect().close(); // makes the history that a start reads
    Map<String, Object> settings =
        Map.of("database.timeout.seconds", 1, "database.start.timeout.seconds", 60);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (Connection locker = SERVER.connection()) {
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE flyway_schema_history");
      Future<ApplicationContext> starting = thread.submit(() -> SERVER.connect(settings));
      locker.createStatement().execute("SELECT pg_sleep(1.5)");
      assertFalse(starting.isDone(), "the migration waits");
      locker.rollback();

      try (ApplicationContext instance = starting.get()) {
        assertEquals(FERN, instance.getBean(PlantStore.class).putIfAbsent(FERN));
      }
    } finally {
      thread.shutdownNow();
    }
  }

  private static void assertRefused(Map<String, Object> settings, String message) {
    assertEquals(message, refusal(settings));
  }

  private static String refusal(Map<String, Object> settings) {
    ConfigurationException refusal =
        assertThrows(ConfigurationException.class, () -> SERVER.connect(settings).close());
    return String.valueOf(refusal.getMessage());
  }
}
