package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.assertAllStored;
import static org.plantstore.adapter.persistence.Calls.failure;
import static org.plantstore.adapter.persistence.Calls.fern;
import static org.plantstore.adapter.persistence.Calls.putAll;
import static org.plantstore.adapter.persistence.Calls.unavailable;
import static org.plantstore.adapter.persistence.SharedServer.SERVER;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.ApplicationContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Tests a store on a real server: its batches, sessions, credentials, and metrics, and faults in
 * its table.
 */
@Timeout(60)
class PostgresTest {

  @TempDir Path folder;

  @AutoClose private final ApplicationContext instance;
  private final PlantStore store;

  PostgresTest() {
    SERVER.reset();
    instance = SERVER.connect(Map.of());
    store = instance.getBean(PlantStore.class);
  }

  @Test
  void many_plants_share_each_commit() throws Exception {
    long before = Long.parseLong(SERVER.single("SELECT pg_current_xact_id()"));

    List<CompletableFuture<Void>> calls;
    try (Connection holder = SERVER.connection()) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("LOCK TABLE plant");
      calls = putAll(store, LongStream.range(0, 10_000));
      holder.rollback(); // only now can any plant be stored
    }
    assertAllStored(calls);

    assertEquals("10000", SERVER.single("SELECT count(*) FROM plant"));
    long commits = Long.parseLong(SERVER.single("SELECT pg_current_xact_id()")) - before;
    assertTrue(commits < 2_000, "commits: " + commits);
  }

  /** The ids of the first 1,000 batches are free, so the next batch omits ON CONFLICT. */
  @Test
  void taken_ids_do_not_prevent_other_plants_of_the_batch_from_being_stored() throws Exception {
    for (long id = 1; id < 2_000; id += 2) {
      store.putIfAbsent(fern(id));
    }

    assertAllStored(putAll(store, LongStream.range(0, 2_000)));

    assertEquals("2000", SERVER.single("SELECT count(*) FROM plant"));
  }

  @Test
  void locked_ids_do_not_prevent_other_plants_from_being_stored() throws Exception {
    try (Connection holder = SERVER.connection();
        // The batch waits for a lock for a fifth of this time.
        ApplicationContext another = SERVER.connect(Map.of("database.timeout.seconds", 20))) {
      PlantStore store = another.getBean(PlantStore.class);
      holder.setAutoCommit(false);
      holder
          .createStatement()
          .execute(
              "INSERT INTO plant SELECT id * 4, 'undecided' FROM generate_series(0, 59) AS id");

      List<CompletableFuture<Void>> calls = putAll(store, LongStream.range(0, 250));

      for (int id = 0; id < calls.size(); id++) {
        if (id % 4 == 0 && id < 240) {
          assertEquals(
              "canceling statement due to lock timeout (SQLSTATE 55P03)",
              unavailable(calls.get(id)));
        } else {
          calls.get(id).get();
        }
      }
      holder.rollback();
      assertAllStored(putAll(store, LongStream.range(0, 250)));
    }
  }

  @Test
  void instances_that_write_the_same_ids_do_not_deadlock() throws Exception {
    try (ApplicationContext another = SERVER.connect(Map.of())) {
      List<CompletableFuture<Void>> calls = putAll(store, shuffled(1));
      assertAllStored(putAll(another.getBean(PlantStore.class), shuffled(2)));
      assertAllStored(calls);
    }
    assertEquals("0", SERVER.single("SELECT sum(deadlocks) FROM pg_stat_database"));
  }

  private static LongStream shuffled(long seed) {
    return new Random(seed).longs(40_000, 0, 2_000).distinct();
  }

  @Test
  void closing_a_store_completes_waiting_plants_and_refuses_later_ones() throws Exception {
    ApplicationContext closed = SERVER.connect(Map.of());
    PlantStore closing = closed.getBean(PlantStore.class);
    List<CompletableFuture<Void>> calls = putAll(closing, LongStream.range(0, 10_000));

    closed.close();

    assertAllStored(calls);
    assertEquals("the store is closed", unavailable(putAll(closing, LongStream.of(1)).get(0)));
  }

  /** Another program may have written such a row. */
  @Test
  void invalid_row_fails_only_the_plant_with_its_id() throws Exception {
    SERVER.execute(
        "ALTER TABLE plant ALTER name DROP NOT NULL", "INSERT INTO plant VALUES (1, NULL)");
    var calls = putAll(store, LongStream.range(0, 50));

    Throwable reason = assertInstanceOf(IllegalStateException.class, failure(calls.get(1)));
    assertEquals(
        "the row with the id 1 in the table plant is not a valid plant", reason.getMessage());
    calls.get(0).get();
    assertAllStored(calls.subList(2, 50));
  }

  /** A warning may contain the text of a plant. */
  @Test
  void warning_of_a_trigger_has_no_effect_and_is_not_logged() {
    SERVER.execute(
        """
        CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
          $$BEGIN RAISE WARNING 'canary %', NEW.name; RETURN NEW; END$$;
        CREATE TRIGGER warn AFTER INSERT ON plant FOR EACH ROW EXECUTE FUNCTION warn();
        """);
    List<String> log =
        Calls.log(
            PlantTable.class.getName(), () -> assertEquals(fern(1), store.putIfAbsent(fern(1))));

    assertEquals(List.of(), log);
  }

  /**
   * Each row contains a change that is made while the service is running, and the statement that
   * undoes it.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ALTER TABLE plant RENAME TO elsewhere | ALTER TABLE elsewhere RENAME TO plant
          ALTER ROLE postgres SET search_path = ''; <end sessions> | ALTER ROLE postgres RESET search_path
          ALTER TABLE plant RENAME tag TO label | ALTER TABLE plant RENAME label TO tag
          DROP TABLE plant | CREATE TABLE plant (tag text, id bigint UNIQUE, name text)
          """)
  void create_succeeds_as_soon_as_a_change_of_a_setting_or_the_table_is_undone(
      String change, String undo) throws Exception {
    String endSessions =
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'plant-store'";
    MeterRegistry registry = new SimpleMeterRegistry();
    try (ApplicationContext another = SERVER.connect(Map.of(), registry)) {
      PlantStore changed = another.getBean(PlantStore.class);
      for (long id = 0; id < 50; id++) {
        changed.putIfAbsent(fern(id));
      }
      // Each statement has its own transaction, so that no new session begins with the old setting.
      for (String statement : change.replace("<end sessions>", endSessions).split("; ", -1)) {
        SERVER.execute(statement);
      }
      putAll(changed, LongStream.range(50, 60));
      Timer failed = registry.get("plant.store.commit").tag("outcome", "failed").timer();
      Calls.await(() -> failed.count() >= 10);

      SERVER.execute(undo);
      for (long id = 60; id < 80; id++) {
        assertEquals(fern(id), changed.putIfAbsent(fern(id)));
      }
    }
  }

  /** Most other tests use a store without a meter registry. */
  @Test
  void metrics_cover_batches_commits_failures_the_queue_and_the_pool() {
    MeterRegistry registry = new SimpleMeterRegistry();
    try (ApplicationContext context = SERVER.connect(Map.of(), registry)) {
      PlantStore measured = context.getBean(PlantStore.class);
      for (long id = 0; id < 3; id++) {
        measured.putIfAbsent(fern(id));
      }

      Timer stored = registry.get("plant.store.commit").tag("outcome", "stored").timer();
      Timer failed = registry.get("plant.store.commit").tag("outcome", "failed").timer();
      assertEquals(3, stored.count());
      assertTrue(stored.totalTime(TimeUnit.NANOSECONDS) > 0);
      assertEquals(0, failed.count());
      assertEquals(3, registry.get("plant.store.batch.plants").summary().totalAmount());
      assertEquals(3, registry.get("plant.store.queue.wait").functionTimer().count());
      assertEquals(5, registry.get("hikaricp.connections.max").gauge().value());

      SERVER.execute(
          """
          CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'the disk is full'; END$$;
          CREATE TRIGGER fill BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION fill();
          """);
      assertThrows(PlantStoreUnavailableException.class, () -> measured.putIfAbsent(fern(3)));
      assertEquals(3, stored.count());
      assertTrue(failed.count() > 0);
    }
  }

  @ParameterizedTest
  @CsvSource({"off, on", "local, on", "remote_write, on", "remote_apply, remote_apply"})
  void weak_synchronous_commit_of_the_role_is_overridden(String set, String used)
      throws SQLException {
    SERVER.execute("ALTER ROLE postgres SET synchronous_commit = " + set);

    assertEquals(used, single(connections(Map.of()), "SHOW synchronous_commit"));
  }

  /** A timeout of 1 ms could end a session, or cancel the statement that sets up the session. */
  @Test
  void timeouts_of_the_role_have_no_effect() throws SQLException {
    Map<String, String> expected = Map.of("statement_timeout", "48s", "lock_timeout", "12s");
    String names =
        "SELECT string_agg(name, ' ') FROM pg_settings"
            + " WHERE name LIKE '%timeout' AND category LIKE '%Statement Behavior'";
    for (String timeout : SERVER.single(names).split(" ", -1)) {
      SERVER.execute(
          "DROP ROLE IF EXISTS gardener",
          "CREATE ROLE gardener LOGIN",
          "ALTER ROLE gardener SET " + timeout + " = 1");
      DatabaseConnections source = connections(Map.of("database.username", "gardener"));

      for (int connection = 0; connection < 5; connection++) {
        assertEquals(
            expected.getOrDefault(timeout, "0"), single(source, "SHOW " + timeout), timeout);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"08P01", "0A000", "25P04", "42704"})
  void two_threads_whose_startup_options_are_refused_both_try_again_with_other_options(
      String state) {
    DatabaseConnections source = connections(Map.of());
    String options = source.getOptions();
    DatabaseFailure refused = new DatabaseFailure(new SQLException("refused", state));

    assertTrue(source.changeOptions(options, refused), "the first thread");
    assertTrue(source.changeOptions(options, refused), "the second thread");
    assertFalse(source.changeOptions(source.getOptions(), refused), "no other options are left");
  }

  /** If array_nulls were off, the server would store a missing tag as the text NULL. */
  @Test
  void array_nulls_setting_of_the_role_does_not_change_plants() throws Exception {
    SERVER.execute("ALTER ROLE postgres SET array_nulls = off");
    try (ApplicationContext another = SERVER.connect(Map.of())) {
      assertAllStored(putAll(another.getBean(PlantStore.class), LongStream.range(0, 1_000)));
    }
    assertEquals("0", SERVER.single("SELECT count(tag) FROM plant"));
  }

  /** Vault changes both files one after the other while connections are being opened. */
  @Test
  void changed_credentials_are_used_at_once_even_after_a_refusal() throws Exception {
    SERVER.execute("CREATE ROLE gardener LOGIN PASSWORD 'old'", "DROP ROLE IF EXISTS gardener2");
    Path rules = Path.of(SERVER.single("SHOW hba_file"));
    String trusting = Files.readString(rules);
    Files.writeString(rules, "host all gardener,gardener2 all scram-sha-256\n" + trusting);
    SERVER.execute("SELECT pg_reload_conf()");
    try {
      Path name = Files.writeString(folder.resolve("name"), "gardener");
      Path password = Files.writeString(folder.resolve("password"), "old\n");
      DatabaseConnections source =
          connections(
              Map.of(
                  "database.username",
                  "",
                  "database.username.file",
                  name.toString(),
                  "database.password",
                  "",
                  "database.password.file",
                  password.toString()));
      source.getConnection().close();

      SERVER.execute("CREATE ROLE gardener2 LOGIN PASSWORD 'new'", "ALTER ROLE gardener NOLOGIN");
      Files.writeString(name, "gardener2");
      assertThrows(SQLException.class, source::getConnection, "the old password is accepted");
      Files.writeString(password, "new");
      assertEquals("gardener2", single(source, "SELECT current_user"));

      Files.delete(password);
      assertEquals("28000", assertThrows(SQLException.class, source::getConnection).getSQLState());
    } finally {
      Files.writeString(rules, trusting);
      SERVER.execute("SELECT pg_reload_conf()", "DROP ROLE IF EXISTS gardener2");
    }
  }

  private static String single(DatabaseConnections source, String query) throws SQLException {
    try (Connection connection = source.getConnection();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }

  private static DatabaseConnections connections(Map<String, Object> replacements) {
    try (ApplicationContext context =
        ApplicationContext.builder().properties(SERVER.settings(replacements)).build()) {
      return ConnectionPool.connections(new DatabaseSettings(context.getEnvironment().start()));
    }
  }
}
