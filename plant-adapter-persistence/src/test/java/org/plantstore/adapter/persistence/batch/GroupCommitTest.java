package org.plantstore.adapter.persistence.batch;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.batch.TestTable.NONE;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** The batching alone, on a table in memory that can be held up and made to fail. */
@Timeout(30)
class GroupCommitTest {

  private static final GroupCommit.Limits WIDE = new GroupCommit.Limits(1_000, 1_000_000);
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(300);

  private final TestTable table = new TestTable();
  private final List<GroupCommit> opened = new ArrayList<>();

  @AfterEach
  @Timeout(30)
  void close() {
    table.release();
    opened.forEach(GroupCommit::close);
  }

  @Test
  void whatever_queues_while_a_batch_is_written_is_the_next_batch_in_the_order_of_ids() {
    long began = System.nanoTime();
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    List<Caller> callers = occupyAllWriters(groupCommit);

    callers.addAll(callAll(groupCommit, LongStream.of(9, -3, 7)));
    assertEquals(3, groupCommit.waitingPlants());
    table.release();

    callers.forEach(Caller::assertOwnPlant);
    assertEquals(List.of(-3L, 7L, 9L), table.lastBatch());
    assertEquals(callers.size(), groupCommit.takenPlants());
    assertTrue(groupCommit.waitedNanos() > 0);
    assertTrue(groupCommit.waitedNanos() < callers.size() * (System.nanoTime() - began));
  }

  @Test
  void of_the_plants_with_one_id_in_a_batch_the_first_is_stored_and_all_are_told() {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);
    NewPlant first = new NewPlant(7, "first", null);

    Caller winner = call(groupCommit, first);
    Caller loser = call(groupCommit, new NewPlant(7, "second", null));
    table.release();

    assertEquals(first, winner.stored());
    assertEquals(first, loser.stored());
  }

  @Test
  void batch_has_at_most_so_many_plants_and_bytes_but_a_large_plant_goes_alone() {
    // A character counts as 3 bytes.
    GroupCommit groupCommit = groupCommit(new GroupCommit.Limits(2, 30), LONG);
    List<Caller> callers = occupyAllWriters(groupCommit);
    int[] characters = {5, 4, 5, 5, 1, 100, 1, 1, 1};
    for (int index = 0; index < characters.length; index++) {
      String tag = index == 1 || index == 3 ? "t" : null;
      NewPlant plant = new NewPlant(index, "f".repeat(characters[index]), tag);
      callers.add(call(groupCommit, plant));
    }
    table.release();

    callers.forEach(Caller::assertOwnPlant);
    assertEquals(
        "[[0, 1], [2], [3, 4], [5], [6, 7], [8]]",
        table.batches().stream()
            .filter(batch -> batch.get(0) >= 0)
            .sorted(Comparator.comparing(batch -> batch.get(0)))
            .toList()
            .toString());
  }

  @Test
  void caller_waits_until_its_deadline_and_its_plant_leaves_the_queue_unwritten() {
    GroupCommit groupCommit = groupCommit(WIDE, SHORT);
    List<Caller> callers = occupyAllWriters(groupCommit);
    callers.addAll(callAll(groupCommit, LongStream.range(0, 3)));

    for (Caller caller : callers) {
      assertEquals("the database has not answered in time", caller.unavailable().getMessage());
    }

    await(() -> groupCommit.waitingPlants() == 0);
    table.release();
    call(groupCommit, fern(77)).assertOwnPlant();
    assertEquals(List.of(77L), table.lastBatch());
    assertTrue(table.batches().stream().noneMatch(batch -> batch.contains(0L)), table::toString);
  }

  @Test
  void batch_that_gets_stuck_is_overtaken() {
    CountDownLatch stuck = new CountDownLatch(1);
    table.before =
        ids -> {
          if (ids.contains(13L)) {
            TestTable.awaitUninterruptibly(stuck);
          }
        };
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    Caller overtaken = call(groupCommit, fern(13));
    table.awaitBatches(1);

    for (long id = 20; id < 40; id++) {
      call(groupCommit, fern(id)).assertOwnPlant();
    }

    stuck.countDown();
    overtaken.assertOwnPlant();
  }

  @Test
  void batch_that_takes_as_long_as_usual_is_waited_for() {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    long begin = System.nanoTime();
    List<Caller> callers = new ArrayList<>(callAll(groupCommit, LongStream.of(0)));
    table.awaitBatches(1);
    callers.addAll(callAll(groupCommit, LongStream.of(1)));
    table.awaitBatches(2);

    assertTrue(System.nanoTime() - begin >= Duration.ofMillis(20).toNanos());
    table.release();
    callers.forEach(Caller::assertOwnPlant);
  }

  @Test
  void answered_plants_are_forgotten() {
    GroupCommit groupCommit = groupCommit(plants -> plants, WIDE, LONG);
    WeakReference<NewPlant> answered = new WeakReference<>(call(groupCommit, fern(0)).stored());

    await(() -> {
      call(groupCommit, fern(1)).assertOwnPlant();
      System.gc();
      return answered.get() == null;
    });
  }

  @Test
  void plant_that_makes_its_batch_fail_does_not_take_its_neighbours_with_it() {
    RuntimeException reason = new IllegalStateException("refused");
    refuse(2, Retry.EACH, reason);

    List<Caller> callers = callInOneBatch(1, 2, 3);

    callers.get(0).assertOwnPlant();
    callers.get(2).assertOwnPlant();
    assertSame(reason, callers.get(1).failure());
  }

  @Test
  void plant_whose_neighbour_is_refused_is_not_refused_at_its_deadline() {
    BatchFailure refused = new BatchFailure(Retry.EACH, new IllegalStateException("refused"));

    assertInstanceOf(
        PlantStoreUnavailableException.class, groupCommit(WIDE, LONG).timeout(refused));
  }

  @Test
  void plant_whose_id_is_locked_is_repeated_on_its_own_until_it_is_free() {
    refuse(2, Retry.EACH, new PlantStoreUnavailableException("locked"));

    List<Caller> callers = callInOneBatch(1, 2);

    callers.get(0).assertOwnPlant();
    int before = table.batches().size();
    table.awaitBatches(before + 2);
    table.before = NONE;
    callers.get(1).assertOwnPlant();
    assertTrue(
        table.batches().stream().skip(before).allMatch(List.of(2L)::equals), table::toString);
  }

  @Test
  void plant_that_cannot_be_read_back_is_repeated_until_its_deadline() {
    AtomicInteger batches = new AtomicInteger();
    GroupCommit groupCommit =
        groupCommit(
            plants -> {
              batches.incrementAndGet();
              return Map.of();
            },
            WIDE,
            SHORT);

    assertEquals(
        "the plant that has the id cannot be read",
        call(groupCommit, fern(1)).unavailable().getMessage());
    assertTrue(batches.get() > 1, batches::toString);
  }

  @Test
  void failure_of_the_whole_batch_is_told_to_all_at_once() {
    PlantStoreUnavailableException reason = new PlantStoreUnavailableException("disk full");
    refuse(2, Retry.NEVER, reason);

    callInOneBatch(1, 2).forEach(caller -> assertSame(reason, caller.failure()));

    assertEquals(1, table.batches().stream().filter(batch -> batch.contains(2L)).count());
  }

  @Test
  void batch_that_was_written_although_its_connection_was_lost_is_answered() {
    GroupCommit.Table losing =
        plants -> {
          Map<Long, NewPlant> stored = table.putIfAbsent(plants);
          if (table.batches().size() == 1) {
            throw new BatchFailure(Retry.BATCH, new PlantStoreUnavailableException("lost"));
          }
          return stored;
        };
    table.release();

    call(groupCommit(losing, WIDE, LONG), fern(1)).assertOwnPlant();
    assertEquals(List.of(List.of(1L), List.of(1L)), table.batches());
  }

  @Test
  void bug_is_told_to_its_callers_and_ends_no_writer() {
    table.before =
        ids -> {
          throw new AssertionError("crash");
        };
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    for (int time = 0; time <= GroupCommit.WRITERS; time++) {
      assertEquals(
          "a batch failed: java.lang.AssertionError: crash",
          call(groupCommit, fern(1)).failure().getMessage());
    }

    table.before = NONE;
    call(groupCommit, fern(1)).assertOwnPlant();
  }

  @Test
  void closing_answers_all_who_wait_refuses_new_plants_and_ends_all_threads() throws Exception {
    GroupCommit groupCommit = groupCommit(new GroupCommit.Limits(3, 1_000_000), LONG);
    List<Caller> callers = occupyAllWriters(groupCommit);
    callers.addAll(callAll(groupCommit, LongStream.range(0, 50)));
    Thread closing = new Thread(groupCommit::close);
    closing.start();
    await(() -> isIn(closing, "awaitTermination"));
    assertEquals("the store is closed", call(groupCommit, fern(99)).unavailable().getMessage());
    table.release();
    closing.join();

    callers.forEach(Caller::assertOwnPlant);
    await(() ->
        Thread.getAllStackTraces().keySet().stream()
            .noneMatch(thread -> thread.getName().startsWith("plant-")));
  }

  @Test
  void plant_of_a_cancelled_call_leaves_the_queue_unwritten() {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);

    assertTrue(groupCommit.putIfAbsent(fern(1), 0).cancel(false));

    table.release();
    call(groupCommit, fern(2)).assertOwnPlant();
    assertTrue(table.batches().stream().noneMatch(batch -> batch.contains(1L)), table::toString);
  }

  private GroupCommit groupCommit(GroupCommit.Limits limits, Duration timeout) {
    return groupCommit(table, limits, timeout);
  }

  private GroupCommit groupCommit(
      GroupCommit.Table written, GroupCommit.Limits limits, Duration timeout) {
    GroupCommit groupCommit =
        new GroupCommit("the database", written, limits, () -> () -> {}, () -> timeout);
    opened.add(groupCommit);
    return groupCommit;
  }

  /** Calls while all writers are busy, and releases them. */
  private List<Caller> callInOneBatch(long... ids) {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);
    List<Caller> callers = callAll(groupCommit, LongStream.of(ids));
    table.release();
    return callers;
  }

  private void refuse(long id, Retry retry, RuntimeException reason) {
    table.before =
        ids -> {
          if (ids.contains(id)) {
            throw new BatchFailure(retry, reason);
          }
        };
  }

  /** Has every writer write a batch, of one plant with a negative id each. */
  private List<Caller> occupyAllWriters(GroupCommit groupCommit) {
    List<Caller> callers = new ArrayList<>();
    for (int writer = 1; writer <= GroupCommit.WRITERS; writer++) {
      callers.add(call(groupCommit, fern(writer - 100)));
      table.awaitBatches(writer);
    }
    return callers;
  }

  private static List<Caller> callAll(GroupCommit groupCommit, LongStream ids) {
    return ids.mapToObj(id -> call(groupCommit, fern(id))).toList();
  }

  private static Caller call(GroupCommit groupCommit, NewPlant plant) {
    return new Caller(plant, groupCommit.putIfAbsent(plant, 0));
  }

  private static boolean isIn(Thread thread, String method) {
    return Stream.of(thread.getStackTrace()).anyMatch(call -> call.getMethodName().equals(method));
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      assertFalse(Thread.interrupted(), "waited in vain");
      LockSupport.parkNanos(100_000);
    }
  }

  private static NewPlant fern(long id) {
    return new NewPlant(id, "fern", null);
  }

  private record Caller(NewPlant plant, CompletableFuture<NewPlant> result) {

    NewPlant stored() {
      return assertDoesNotThrow(() -> result.get());
    }

    void assertOwnPlant() {
      assertEquals(plant, stored());
    }

    Throwable failure() {
      return requireNonNull(assertThrows(ExecutionException.class, result::get).getCause());
    }

    PlantStoreUnavailableException unavailable() {
      return assertInstanceOf(PlantStoreUnavailableException.class, failure());
    }
  }
}
