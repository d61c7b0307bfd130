package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micronaut.context.ApplicationContext;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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

  private static final DatabaseServer SERVER = DatabaseServer.shared();

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Test
  void connection_that_the_server_closes_is_replaced() {
    try (ApplicationContext instance = SERVER.connect(2)) {
      PlantStore store = instance.getBean(PlantStore.class);
      store.putIfAbsent(FERN);

      SERVER.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE application_name = 'plant-store'");

      assertEquals(FERN, store.putIfAbsent(FERN));
    }
  }

  @Test
  void transactions_that_postgres_rolls_back_are_repeated() throws Exception {
    SERVER.execute("ALTER ROLE postgres SET default_transaction_isolation = 'serializable'");
    ExecutorService threads = Executors.newFixedThreadPool(10);
    try (ApplicationContext instance = SERVER.connect(2)) {
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
    try (ApplicationContext instance = SERVER.connect(2)) {
      PlantStore store = instance.getBean(PlantStore.class);
      SERVER.execute(
          "ALTER ROLE postgres SET default_transaction_read_only = on",
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE application_name = 'plant-store'");

      assertUnavailable(store, "(SQLSTATE 25006)");
    }
  }

  @Test
  @Timeout(60)
  void server_that_keeps_silent_is_unavailable_until_it_speaks_again() throws Exception {
    try (ApplicationContext instance = SERVER.connect(2)) {
      PlantStore store = instance.getBean(PlantStore.class);
      try {
        SERVER.freeze();
        assertTimeoutPreemptively(
            Duration.ofSeconds(15),
            () ->
                assertThrows(PlantStoreUnavailableException.class, () -> store.putIfAbsent(FERN)));
      } finally {
        SERVER.thaw();
      }
      assertEquals(FERN, store.putIfAbsent(FERN));
    }
  }

  @Test
  @Timeout(60)
  void callers_that_give_up_leave_no_connection_behind() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(20);
    try (ApplicationContext instance = SERVER.connect(1);
        Connection locker = SERVER.connection()) {
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
  void connection_of_the_monitor_may_be_closed_alone() throws Exception {
    try (ApplicationContext instance = SERVER.connect();
        Connection connection = SERVER.connection()) {
      instance.getBean(PlantStore.class).putIfAbsent(FERN);
      Set<String> monitor = awaitMonitor(connection, Set.of());
      Set<String> pool = sessions(connection, POOL);
      assertEquals(GroupCommit.WRITERS, pool.size(), "sessions of the pool");

      SERVER.execute("SELECT pg_terminate_backend(" + monitor.iterator().next() + ")");

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
  void locked_table_is_unavailable_whatever_the_time_outs_of_the_account() throws Exception {
    try (ApplicationContext instance = SERVER.connect(1);
        Connection locker = SERVER.connection()) {
      PlantStore store = instance.getBean(PlantStore.class);
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE plant");

      assertUnavailable(store, "(SQLSTATE 55P03)");

      locker.rollback();
      assertEquals(FERN, store.putIfAbsent(FERN));
    }
  }

  @Test
  void missing_table_is_no_reason_to_try_again() {
    try (ApplicationContext instance = SERVER.connect(2)) {
      PlantStore store = instance.getBean(PlantStore.class);
      SERVER.execute("DROP TABLE plant");

      RuntimeException failure =
          assertThrows(IllegalStateException.class, () -> store.putIfAbsent(FERN));

      assertNull(failure.getCause());
      assertEndsWith("(SQLSTATE 42P01)", failure.getMessage());
    }
  }

  @Test
  void plants_are_committed_where_the_pool_is_set_not_to() throws SQLException {
    Map<String, Object> settings = DatabaseServer.settings(SERVER.url("postgres"));
    settings.put("datasources.default.auto-commit", false);
    try (ApplicationContext instance = ApplicationContext.run(settings);
        Connection connection = SERVER.connection()) {
      instance.getBean(PlantStore.class).putIfAbsent(FERN);

      assertTrue(
          connection.createStatement().executeQuery("SELECT FROM plant").next(), "is stored");
    }
  }

  /** It is not about a standby, and its text may be a plant's. */
  @Test
  void warning_of_a_trigger_changes_nothing_and_is_not_logged() throws Exception {
    try (ApplicationContext instance = SERVER.connect(2)) {
      SERVER.execute(
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
}
