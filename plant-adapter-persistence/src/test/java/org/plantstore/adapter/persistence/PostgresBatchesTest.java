package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.assertAllStored;
import static org.plantstore.adapter.persistence.Calls.fern;
import static org.plantstore.adapter.persistence.Calls.putAll;
import static org.plantstore.adapter.persistence.Calls.unavailable;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.domain.PlantStore;

/** Concurrent callers, whose plants share statements, do not affect each other. */
@Tag("newest")
@Timeout(60)
class PostgresBatchesTest {

  @AutoClose private static ApplicationContext instance;
  private static PlantStore store;

  @BeforeAll
  static void connect() {
    SERVER.reset();
    instance = SERVER.connect(Map.of());
    store = instance.getBean(PlantStore.class);
  }

  @BeforeEach
  void empty() {
    SERVER.execute("TRUNCATE plant");
  }

  @Test
  void many_plants_share_a_commit() throws Exception {
    long before = Long.parseLong(SERVER.single("SELECT pg_current_xact_id()"));

    assertAllStored(putAll(store, LongStream.range(0, 10_000)));

    assertEquals("10000", SERVER.single("SELECT count(*) FROM plant"));
    long commits = Long.parseLong(SERVER.single("SELECT pg_current_xact_id()")) - before;
    assertTrue(commits < 2_000, "commits: " + commits);
  }

  /** Also after so many inserts found all ids free that the next one is expected to. */
  @Test
  void taken_ids_in_a_batch_do_not_keep_the_others_from_being_stored() throws Exception {
    for (long id = 1; id < 2_000; id += 2) {
      store.putIfAbsent(fern(id));
    }

    assertAllStored(putAll(store, LongStream.range(0, 2_000)));

    assertEquals("2000", SERVER.single("SELECT count(*) FROM plant"));
  }

  @Test
  void plants_with_locked_ids_do_not_hold_up_others() throws Exception {
    try (Connection holder = SERVER.connection()) {
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
  void closing_store_answers_plants_that_wait_and_refuses_others() throws Exception {
    ApplicationContext closed = SERVER.connect(Map.of());
    PlantStore closing = closed.getBean(PlantStore.class);
    List<CompletableFuture<Void>> calls = putAll(closing, LongStream.range(0, 10_000));

    closed.close();

    assertAllStored(calls);
    assertEquals("the store is closed", unavailable(putAll(closing, LongStream.of(1)).get(0)));
  }
}
