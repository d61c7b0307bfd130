package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micronaut.context.ApplicationContext;
import io.micronaut.data.jdbc.runtime.JdbcOperations;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.LoggerFactory;

/** What a real server does to its clients, and what the store makes of it. */
class PostgresFaultsTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", "shade");

  /** Tells the sessions of one instance apart by what they were asked last. */
  private static final String MONITOR = "query LIKE 'SHOW %'";

  private static final String POOL = "query NOT LIKE 'SHOW %'";

  @TempDir static Path data;

  private static DatabaseServer server;

  @BeforeAll
  static void start() {
    server = new DatabaseServer(data);
  }

  @AfterAll
  static void stop() throws IOException {
    server.close();
  }

  @BeforeEach
  void reset() {
    server.reset();
  }

  @Test
  void connection_that_the_server_closes_is_replaced() {
    try (ApplicationContext instance = server.connect()) {
      PlantStore store = instance.getBean(PlantStore.class);
      store.putIfAbsent(FERN);

      server.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE application_name = 'plant-store'");

      assertEquals(FERN, store.putIfAbsent(FERN));
    }
  }

  @Test
  void transactions_that_postgres_rolls_back_are_repeated() throws Exception {
    server.execute("ALTER ROLE postgres SET default_transaction_isolation = 'serializable'");
    ExecutorService threads = Executors.newFixedThreadPool(10);
    try (ApplicationContext instance = server.connect()) {
      PlantStore store = instance.getBean(PlantStore.class);
      for (long id = 0; id < 50; id++) {
        List<Future<NewPlant>> calls = new ArrayList<>();
        for (int caller = 0; caller < 10; caller++) {
          NewPlant candidate = new NewPlant(id, "candidate " + caller, null);
          calls.add(threads.submit(() -> store.putIfAbsent(candidate)));
        }
        Set<NewPlant> answers = new HashSet<>();
        for (Future<NewPlant> call : calls) {
          answers.add(call.get());
        }
        assertEquals(1, answers.size(), "answers for one id");
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void database_that_becomes_read_only_is_unavailable() {
    try (ApplicationContext instance = server.connect()) {
      PlantStore store = instance.getBean(PlantStore.class);
      server.execute(
          "ALTER ROLE postgres SET default_transaction_read_only = on",
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE application_name = 'plant-store'");

      assertUnavailable(store, "(SQLSTATE 25006)");
    }
  }

  @Test
  @Timeout(60)
  void server_that_keeps_silent_is_unavailable_until_it_speaks_again() throws Exception {
    try (ApplicationContext instance = server.connect()) {
      PlantStore store = instance.getBean(PlantStore.class);
      try {
        server.freeze();
        assertTimeoutPreemptively(
            Duration.ofSeconds(15),
            () ->
                assertThrows(PlantStoreUnavailableException.class, () -> store.putIfAbsent(FERN)));
      } finally {
        server.thaw();
      }
      assertEquals(FERN, store.putIfAbsent(FERN));
    }
  }

  @Test
  @Timeout(60)
  void callers_that_give_up_leave_no_connection_behind() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(20);
    try (ApplicationContext instance = server.connect();
        Connection locker = server.connection()) {
      PlantStore store = instance.getBean(PlantStore.class);
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE plant");
      // Twice the time after which the pool's connections would have been given up.
      for (int round = 0; round < 2; round++) {
        List<Future<?>> calls = new ArrayList<>();
        for (int caller = 0; caller < 20; caller++) {
          calls.add(threads.submit(() -> store.putIfAbsent(FERN)));
        }
        for (Future<?> call : calls) {
          ExecutionException failure = assertThrows(ExecutionException.class, call::get);
          assertInstanceOf(PlantStoreUnavailableException.class, failure.getCause());
        }
      }

      try (ResultSet count =
          locker
              .createStatement()
              .executeQuery(
                  "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'")) {
        count.next();
        assertTrue(count.getInt(1) <= 10, "connections at the server: " + count.getInt(1));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  @Timeout(60)
  void callers_wait_until_their_deadline_however_much_waits() throws Exception {
    Map<String, Object> settings = DatabaseServer.settings(server.url("postgres"));
    settings.put("database.timeout.seconds", 1);
    int callers = 40;
    String name = "f".repeat(1_000_000);
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    try (ApplicationContext instance = ApplicationContext.run(settings);
        Connection locker = server.connection()) {
      PlantStore store = instance.getBean(PlantStore.class);
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE plant");
      List<Future<Duration>> calls = new ArrayList<>();
      for (int id = 0; id < callers; id++) {
        NewPlant plant = new NewPlant(id, name, null);
        calls.add(
            threads.submit(() -> {
              long began = System.nanoTime();
              assertThrows(PlantStoreUnavailableException.class, () -> store.putIfAbsent(plant));
              return Duration.ofNanos(System.nanoTime() - began);
            }));
      }

      for (Future<Duration> call : calls) {
        Duration waited = call.get();
        assertTrue(waited.compareTo(Duration.ofMillis(900)) > 0, "waited " + waited);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  @Timeout(60)
  void connection_of_the_monitor_may_be_closed_alone() throws Exception {
    try (ApplicationContext instance = server.connect();
        Connection connection = server.connection()) {
      instance.getBean(PlantStore.class).putIfAbsent(FERN);
      Set<String> monitor = awaitMonitor(connection, Set.of());
      Set<String> pool = sessions(connection, POOL);
      assertEquals(GroupCommit.WRITERS, pool.size(), "sessions of the pool");

      server.execute("SELECT pg_terminate_backend(" + monitor.iterator().next() + ")");

      awaitMonitor(connection, monitor);
      assertEquals(pool, sessions(connection, POOL));
    }
  }

  /** Waits until the monitor has asked on a session that is not one of these. */
  private static Set<String> awaitMonitor(Connection connection, Set<String> before)
      throws SQLException {
    while (true) {
      Set<String> sessions = sessions(connection, MONITOR);
      if (!sessions.isEmpty() && !before.containsAll(sessions)) {
        return sessions;
      }
    }
  }

  private static Set<String> sessions(Connection connection, String condition) throws SQLException {
    Set<String> processes = new HashSet<>();
    try (ResultSet rows =
        connection
            .createStatement()
            .executeQuery(
                "SELECT pid FROM pg_stat_activity"
                    + " WHERE application_name = 'plant-store' AND "
                    + condition)) {
      while (rows.next()) {
        processes.add(rows.getString(1));
      }
    }
    return processes;
  }

  @Test
  void locked_table_is_unavailable() throws Exception {
    server.connect().close(); // makes the table
    try (Connection locker = server.connection()) {
      server.execute("ALTER ROLE postgres SET lock_timeout = '100ms'");
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE plant");
      try (ApplicationContext another = server.connect()) {
        PlantStore store = another.getBean(PlantStore.class);

        assertUnavailable(store, "(SQLSTATE 55P03)");
        locker.rollback();
        assertEquals(FERN, store.putIfAbsent(FERN));
      }
    }
  }

  /** They would end sessions that wait, some of them idle ones. */
  @Test
  void time_outs_of_the_account_do_not_count() throws Exception {
    server.connect().close(); // makes the table
    String timeouts =
        "name IN ('transaction_timeout', 'idle_in_transaction_session_timeout',"
            + " 'idle_session_timeout')";
    try (Connection locker = server.connection()) {
      server.execute(
          "DO $$ DECLARE timeout text; BEGIN"
              + " FOR timeout IN SELECT name FROM pg_settings WHERE "
              + timeouts
              + " LOOP EXECUTE format('ALTER ROLE postgres SET %I = 300', timeout); END LOOP; END $$");
      try (ApplicationContext another = server.connect()) {
        locker.setAutoCommit(false);
        locker.createStatement().execute("LOCK TABLE plant");

        assertUnavailable(another.getBean(PlantStore.class), "(SQLSTATE 55P03)");
        assertEquals(
            "0",
            single(
                another,
                "SELECT string_agg(DISTINCT setting, ' ') FROM pg_settings WHERE " + timeouts));
      }
    }
  }

  @Test
  void row_that_is_neither_inserted_nor_there_is_unavailable_after_a_while() {
    try (ApplicationContext instance = server.connect()) {
      server.execute("CREATE RULE swallow AS ON INSERT TO plant DO INSTEAD NOTHING");

      assertUnavailable(
          instance.getBean(PlantStore.class), "the plant that has the id cannot be read");
    }
  }

  @Test
  void missing_table_is_no_reason_to_try_again() {
    try (ApplicationContext instance = server.connect()) {
      PlantStore store = instance.getBean(PlantStore.class);
      server.execute("DROP TABLE plant");

      RuntimeException failure =
          assertThrows(IllegalStateException.class, () -> store.putIfAbsent(FERN));

      assertNull(failure.getCause());
      assertEndsWith("(SQLSTATE 42P01)", failure.getMessage());
    }
  }

  @Test
  void migrations_may_take_longer_than_a_create() throws Exception {
    server.connect().close(); // makes the history that a start reads
    Map<String, Object> settings = DatabaseServer.settings(server.url("postgres"));
    settings.put("database.timeout.seconds", 1);
    settings.put("database.start.timeout.seconds", 60);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (Connection locker = server.connection()) {
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE flyway_schema_history");
      Future<ApplicationContext> starting = thread.submit(() -> ApplicationContext.run(settings));
      locker.createStatement().execute("SELECT pg_sleep(3)");
      assertFalse(starting.isDone(), "the migration waits");
      locker.rollback();

      try (ApplicationContext instance = starting.get()) {
        assertEquals(FERN, instance.getBean(PlantStore.class).putIfAbsent(FERN));
      }
    } finally {
      thread.shutdownNow();
    }
  }

  @Test
  void plants_are_committed_where_the_pool_is_set_not_to() throws SQLException {
    Map<String, Object> settings = DatabaseServer.settings(server.url("postgres"));
    settings.put("datasources.default.auto-commit", false);
    try (ApplicationContext instance = ApplicationContext.run(settings);
        Connection connection = server.connection()) {
      instance.getBean(PlantStore.class).putIfAbsent(FERN);

      assertTrue(
          connection.createStatement().executeQuery("SELECT FROM plant").next(), "is stored");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "local", "remote_write"})
  void commits_are_durable_where_the_database_does_not_ask_for_it(String weaker) {
    server.execute("ALTER ROLE postgres SET synchronous_commit = " + weaker);
    try (ApplicationContext instance = server.connect()) {
      assertEquals("on", synchronousCommit(instance));
    }
  }

  /** It is not about a standby, and its text may be a plant's. */
  @Test
  void warning_of_a_trigger_changes_nothing_and_is_not_logged() throws Exception {
    try (ApplicationContext instance = server.connect()) {
      server.execute(
          """
          CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE WARNING 'canary %', NEW.name; RETURN NEW; END$$;
          CREATE TRIGGER warn BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION warn();
          """);
      ListAppender<ILoggingEvent> log = new ListAppender<>();
      log.start();
      Logger logger = (Logger) LoggerFactory.getLogger(PlantTable.class);
      logger.addAppender(log);
      try {
        assertEquals(FERN, instance.getBean(PlantStore.class).putIfAbsent(FERN));
      } finally {
        logger.detachAppender(log);
      }
      assertEquals(List.of(), log.list);
    }
  }

  @Test
  void commits_that_wait_for_a_replica_stay_so() {
    server.execute("ALTER ROLE postgres SET synchronous_commit = remote_apply");
    try (ApplicationContext instance = server.connect()) {
      assertEquals("remote_apply", synchronousCommit(instance));
    }
  }

  private static void assertUnavailable(PlantStore store, String reason) {
    RuntimeException failure =
        assertInstanceOf(
            PlantStoreUnavailableException.class,
            assertThrows(RuntimeException.class, () -> store.putIfAbsent(FERN)));
    assertEndsWith(reason, failure.getMessage());
  }

  private static void assertEndsWith(String end, @Nullable String message) {
    assertTrue(message != null && message.endsWith(end), message);
  }

  private static String synchronousCommit(ApplicationContext instance) {
    return single(instance, "SHOW synchronous_commit");
  }

  /** Asks on one of the connections that plants are written on. */
  private static String single(ApplicationContext instance, String query) {
    return instance
        .getBean(JdbcOperations.class)
        .execute(connection -> {
          try (ResultSet row = connection.createStatement().executeQuery(query)) {
            row.next();
            return row.getString(1);
          }
        });
  }
}
