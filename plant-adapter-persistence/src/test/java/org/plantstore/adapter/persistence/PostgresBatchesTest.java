package org.plantstore.adapter.persistence;

import static java.util.stream.Collectors.toCollection;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** What many callers at once, whose plants share statements, do to each other: nothing. */
@Timeout(60)
class PostgresBatchesTest {

  private static final DatabaseServer SERVER = DatabaseServer.shared();

  private static ApplicationContext instance;
  private static PlantStore store;

  @BeforeAll
  static void connect() {
    SERVER.reset();
    instance = SERVER.connect(Map.of("database.timeout.seconds", 4));
    store = instance.getBean(PlantStore.class);
  }

  @AfterAll
  static void disconnect() {
    instance.close();
  }

  @BeforeEach
  void empty() {
    SERVER.execute("TRUNCATE plant");
  }

  @Test
  void many_plants_share_a_commit() throws Exception {
    long before = Long.parseLong(SERVER.single("SELECT pg_current_xact_id()"));

    for (CompletableFuture<NewPlant> call :
        putAll(store, LongStream.range(0, 10_000).boxed().toList())) {
      assertEquals("fern", call.get().name());
    }

    assertEquals("10000", SERVER.single("SELECT count(*) FROM plant"));
    long commits = Long.parseLong(SERVER.single("SELECT pg_current_xact_id()")) - before;
    assertTrue(commits < 2_000, "commits: " + commits);
  }

  @Test
  void table_that_does_not_keep_ids_unique_is_refused() throws Exception {
    SERVER.execute("ALTER TABLE plant DROP CONSTRAINT plant_pkey");

    assertThrows(IllegalStateException.class, () -> store.putIfAbsent(fern(0)));
    assertEquals("0", SERVER.single("SELECT count(*) FROM plant"));
    SERVER.execute("ALTER TABLE plant ADD PRIMARY KEY (id)");
  }

  /** Also after so many inserts found all ids free that the next one is expected to. */
  @Test
  void taken_ids_in_a_batch_do_not_keep_the_others_from_being_stored() throws Exception {
    for (long id = 1; id < 2_000; id += 2) {
      store.putIfAbsent(fern(id));
    }
    List<CompletableFuture<NewPlant>> calls =
        putAll(store, LongStream.range(0, 2_000).boxed().toList());

    for (int id = 0; id < calls.size(); id++) {
      assertEquals(fern(id), calls.get(id).get());
    }
    assertEquals("2000", SERVER.single("SELECT count(*) FROM plant"));
  }

  @Test
  void plants_whose_ids_somebody_else_holds_do_not_hold_up_others() throws Exception {
    try (Connection holder = SERVER.connection()) {
      holder.setAutoCommit(false);
      holder
          .createStatement()
          .execute("INSERT INTO plant SELECT id, 'undecided' FROM generate_series(7, 12) AS id");

      List<CompletableFuture<NewPlant>> calls =
          putAll(store, LongStream.range(0, 250).boxed().toList());

      for (int id = 0; id < calls.size(); id++) {
        CompletableFuture<NewPlant> call = calls.get(id);
        if (id >= 7 && id <= 12) {
          assertInstanceOf(
              PlantStoreUnavailableException.class,
              assertThrows(ExecutionException.class, call::get).getCause());
        } else {
          assertEquals(fern(id), call.get());
        }
      }
    }
    assertEquals(fern(7), store.putIfAbsent(fern(7)));
  }

  @Test
  void instances_that_write_the_same_ids_do_not_deadlock() throws Exception {
    try (ApplicationContext anotherInstance = SERVER.connect()) {
      List<Long> ids = new ArrayList<>(LongStream.range(0, 2_000).boxed().toList());
      Collections.shuffle(ids, new Random(1));
      List<CompletableFuture<NewPlant>> calls = putAll(store, ids);
      Collections.shuffle(ids, new Random(2));
      calls.addAll(putAll(anotherInstance.getBean(PlantStore.class), ids));

      for (CompletableFuture<NewPlant> call : calls) {
        assertEquals("fern", call.get().name());
      }
    }
    assertEquals("0", SERVER.single("SELECT sum(deadlocks) FROM pg_stat_database"));
  }

  @Test
  void interrupted_caller_waits_no_longer_and_stays_interrupted() throws Exception {
    try (Connection holder = SERVER.connection()) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("LOCK TABLE plant");

      Thread.currentThread().interrupt();
      PlantStoreUnavailableException failure =
          assertThrows(PlantStoreUnavailableException.class, () -> store.putIfAbsent(fern(1)));

      assertTrue(Thread.interrupted());
      assertEquals("interrupted while waiting for the database", failure.getMessage());
    }
  }

  @Test
  void store_that_is_closed_refuses_plants_and_starts_no_thread() {
    ApplicationContext closed = SERVER.connect();
    PlantStore refusing = closed.getBean(PlantStore.class);
    closed.close();
    Set<Thread> before = Thread.getAllStackTraces().keySet();

    assertEquals(
        "the store is closed",
        assertThrows(PlantStoreUnavailableException.class, () -> refusing.putIfAbsent(fern(1)))
            .getMessage());
    assertTrue(before.containsAll(Thread.getAllStackTraces().keySet()));
  }

  @Test
  void nothing_watches_for_shards_without_citus() {
    assertTrue(
        Thread.getAllStackTraces().keySet().stream()
            .noneMatch(thread -> thread.getName().equals("plant-shards")));
  }

  @Test
  @SuppressWarnings("NullAway") // null is what this test is about
  void executor_must_not_be_null() {
    assertThrows(NullPointerException.class, () -> store.putIfAbsentAsync(fern(1), null));
  }

  @Test
  void plant_that_waits_when_the_store_is_closed_is_stored_and_answered() throws Exception {
    ApplicationContext closed = SERVER.connect();
    Thread closing = new Thread(closed::close);
    CompletableFuture<NewPlant> call;
    try (Connection holder = SERVER.connection()) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("LOCK TABLE plant");
      call = putAll(closed.getBean(PlantStore.class), List.of(1L)).get(0);
      String waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await(() -> !SERVER.single(waiting).equals("0"));
      closing.start();
      await(() -> closing.getState() == Thread.State.TIMED_WAITING);
    }
    closing.join();

    assertEquals(fern(1), call.get());
    assertEquals("1", SERVER.single("SELECT count(*) FROM plant"));
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      assertFalse(Thread.interrupted(), "waited in vain");
    }
  }

  private static List<CompletableFuture<NewPlant>> putAll(PlantStore target, List<Long> ids) {
    Executor unused = work -> fail("a thread is asked for");
    return ids.stream()
        .map(id -> target.putIfAbsentAsync(fern(id), unused).toCompletableFuture())
        .collect(toCollection(ArrayList::new));
  }

  private static NewPlant fern(long id) {
    return new NewPlant(id, "fern", null);
  }
}
