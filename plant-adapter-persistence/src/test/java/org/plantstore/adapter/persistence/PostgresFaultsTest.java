package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
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
    try (ApplicationContext instance = SERVER.connect()) {
      PlantStore store = instance.getBean(PlantStore.class);
      store.putIfAbsent(FERN);

      SERVER.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE application_name = 'plant-store'");

      assertEquals(FERN, store.putIfAbsent(FERN));
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
  void missing_table_is_no_reason_to_try_again() {
    try (ApplicationContext instance = SERVER.connect()) {
      PlantStore store = instance.getBean(PlantStore.class);
      SERVER.execute("DROP TABLE plant");

      RuntimeException failure =
          assertThrows(IllegalStateException.class, () -> store.putIfAbsent(FERN));

      assertNull(failure.getCause());
      assertTrue(
          String.valueOf(failure.getMessage()).endsWith("(SQLSTATE 42P01)"), failure::toString);
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
    try (ApplicationContext instance = SERVER.connect()) {
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
}
