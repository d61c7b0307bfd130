package org.plantstore.adapter.persistence.batch;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** The batching alone, on a table in memory that can be held up and made to fail. */
@Timeout(30)
class GroupCommitTest {

  private static final GroupCommit.Limits WIDE = new GroupCommit.Limits(1_000, 1_000_000);
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(300);

  private final HeldTable table = new HeldTable();
  private final List<GroupCommit> opened = new ArrayList<>();

  @AfterEach
  @Timeout(30)
  void close() {
    table.release();
    opened.forEach(GroupCommit::close);
  }

  @Test
  void lonely_plant_is_written_at_once() {
    table.release();

    assertEquals(fern(1), groupCommit(WIDE, LONG).putIfAbsent(fern(1)));
    assertEquals(List.of(List.of(1L)), table.batches());
  }

  @Test
  void whatever_queues_while_a_batch_is_written_is_the_next_batch_in_the_order_of_ids() {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    List<Caller> callers = occupyAllWriters(groupCommit);

    callers.addAll(callAll(groupCommit, LongStream.of(9, -3, 7)));
    table.release();

    callers.forEach(Caller::assertOwnPlant);
    assertEquals(List.of(-3L, 7L, 9L), table.lastBatch());
  }

  @Test
  void of_the_plants_with_one_id_in_a_batch_the_first_is_stored_and_all_are_told()
      throws Exception {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);
    NewPlant first = new NewPlant(7, "first", null);

    Caller winner = call(groupCommit, first);
    Caller twin = call(groupCommit, first);
    Caller loser = call(groupCommit, new NewPlant(7, "second", null));
    table.release();

    assertEquals(first, winner.stored());
    assertEquals(first, loser.stored());
    assertEquals(first, twin.stored());
  }

  @Test
  void batch_has_at_most_so_many_plants() {
    GroupCommit groupCommit = groupCommit(new GroupCommit.Limits(2, 1_000_000), LONG);
    List<Caller> callers = occupyAllWriters(groupCommit);

    callers.addAll(callAll(groupCommit, LongStream.range(0, 7)));
    table.release();

    callers.forEach(Caller::assertOwnPlant);
    assertTrue(table.batches().stream().allMatch(batch -> batch.size() <= 2), table::toString);
    assertEquals(4, table.batches().stream().filter(batch -> batch.get(0) >= 0).count());
  }

  @Test
  void batch_has_at_most_so_many_bytes_but_a_large_plant_goes_alone() {
    // A character counts as 3 bytes.
    GroupCommit groupCommit = groupCommit(new GroupCommit.Limits(100, 30), LONG);
    List<Caller> callers = occupyAllWriters(groupCommit);

    NewPlant tagged = new NewPlant(2, "fern", "t");
    for (NewPlant plant : List.of(named(1, 5), tagged, named(3, 1), named(4, 100), named(5, 1))) {
      callers.add(call(groupCommit, plant));
    }
    table.release();

    callers.forEach(Caller::assertOwnPlant);
    List<List<Long>> batches = table.batches();
    assertTrue(batches.contains(List.of(1L, 2L)), table::toString);
    assertTrue(batches.contains(List.of(3L)), table::toString);
    assertTrue(batches.contains(List.of(4L)), table::toString);
    assertTrue(batches.contains(List.of(5L)), table::toString);
  }

  @Test
  void caller_waits_no_longer_than_its_patience_and_what_nobody_waits_for_is_not_written() {
    GroupCommit groupCommit = groupCommit(WIDE, SHORT);
    List<Caller> callers = occupyAllWriters(groupCommit);
    callers.addAll(callAll(groupCommit, LongStream.range(0, 3)));

    long begin = System.nanoTime();
    for (Caller caller : callers) {
      assertEquals("the database has not answered in time", caller.unavailable().getMessage());
    }
    assertTrue(Duration.ofNanos(System.nanoTime() - begin).compareTo(LONG) < 0);

    table.release();
    groupCommit.putIfAbsent(fern(77));
    assertEquals(List.of(77L), table.lastBatch());
    assertTrue(table.batches().stream().noneMatch(batch -> batch.contains(0L)), table::toString);
  }

  @Test
  void plants_whose_callers_gave_up_take_no_room_in_the_queue() {
    GroupCommit groupCommit = groupCommit(WIDE, SHORT);
    List<Caller> callers = occupyAllWriters(groupCommit);
    callers.addAll(callAll(groupCommit, LongStream.range(0, 2)));
    callers.forEach(Caller::unavailable);

    Caller late = call(groupCommit, fern(5));

    await(() -> groupCommit.waitingPlants() == 1);
    table.release();
    late.assertOwnPlant();
  }

  @Test
  void batch_that_gets_stuck_is_overtaken() {
    table.holdUp(13);
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    Caller stuck = call(groupCommit, fern(13));
    table.awaitBatches(1);

    for (long id = 20; id < 40; id++) {
      assertEquals(fern(id), groupCommit.putIfAbsent(fern(id)));
    }

    table.holdUpNothing();
    stuck.assertOwnPlant();
    assertEquals(fern(1), groupCommit.putIfAbsent(fern(1)));
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
    GroupCommit groupCommit = new GroupCommit(plants -> plants, WIDE, LONG);
    opened.add(groupCommit);
    WeakReference<NewPlant> answered = new WeakReference<>(groupCommit.putIfAbsent(fern(0)));

    await(() -> {
      groupCommit.putIfAbsent(fern(1));
      System.gc();
      return answered.get() == null;
    });
  }

  @Test
  void plant_that_makes_its_batch_fail_does_not_take_its_neighbours_with_it() {
    table.refuse(2, new BatchFailure(Remedy.SEPARATE, new IllegalStateException("refused")));
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);

    Caller one = call(groupCommit, fern(1));
    Caller two = call(groupCommit, fern(2));
    Caller three = call(groupCommit, fern(3));
    table.release();

    one.assertOwnPlant();
    three.assertOwnPlant();
    assertEquals("refused", two.failure().getMessage());
    assertInstanceOf(IllegalStateException.class, two.failure());
  }

  @Test
  void plant_whose_neighbour_is_refused_is_not_refused_when_its_time_is_over() {
    for (BatchFailure failure :
        List.of(
            new BatchFailure(Remedy.SEPARATE, new IllegalStateException("refused")),
            new BatchFailure(Remedy.REPEAT, new PlantStoreUnavailableException("locked")))) {
      assertInstanceOf(
          PlantStoreUnavailableException.class, WaitingPlant.expired(failure).reason());
    }
  }

  @Test
  void plant_that_somebody_holds_is_repeated_by_itself_until_it_is_free() {
    table.refuse(
        2, new BatchFailure(Remedy.SEPARATE, new PlantStoreUnavailableException("locked")));
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);

    Caller one = call(groupCommit, fern(1));
    Caller two = call(groupCommit, fern(2));
    table.release();
    one.assertOwnPlant();
    int before = table.batches().size();
    table.awaitBatches(before + 2);
    table.refuseNothing();

    two.assertOwnPlant();
    assertTrue(
        table.batches().stream().skip(before).allMatch(List.of(2L)::equals), table::toString);
  }

  @Test
  void plant_that_cannot_be_read_back_is_repeated() {
    table.hide(1);
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    Caller caller = call(groupCommit, fern(1));
    table.awaitBatches(3);
    table.hideNothing();

    caller.assertOwnPlant();
  }

  @Test
  void plant_that_can_never_be_read_back_is_told() {
    table.hide(1);
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, SHORT);

    assertEquals(
        "the plant that has the id cannot be read",
        call(groupCommit, fern(1)).unavailable().getMessage());
  }

  @Test
  void failure_of_the_whole_batch_is_told_to_all_at_once() {
    BatchFailure failure =
        new BatchFailure(Remedy.NONE, new PlantStoreUnavailableException("disk full"));
    table.refuse(2, failure);
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);

    Caller one = call(groupCommit, fern(1));
    Caller two = call(groupCommit, fern(2));
    table.release();

    assertSame(failure.reason(), one.failure());
    assertSame(failure.reason(), two.failure());
    assertEquals(1, table.batches().stream().filter(batch -> batch.contains(2L)).count());
  }

  @Test
  void batch_that_was_written_although_its_connection_was_lost_is_answered() {
    table.loseNextAnswers(1);
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    table.release();

    assertEquals(fern(1), groupCommit.putIfAbsent(fern(1)));
    assertEquals(List.of(List.of(1L), List.of(1L)), table.batches());
  }

  @Test
  void what_stands_in_the_way_for_longer_than_the_patience_is_told() {
    table.refuse(
        1, new BatchFailure(Remedy.REPEAT, new PlantStoreUnavailableException("starting up")));
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, SHORT);

    Caller caller = call(groupCommit, fern(1));

    assertEquals("starting up", caller.unavailable().getMessage());
    assertTrue(table.batches().size() > 1, table::toString);
  }

  @Test
  void plant_that_repeats_holds_up_nobody() {
    table.refuse(
        1, new BatchFailure(Remedy.REPEAT, new PlantStoreUnavailableException("deadlock")));
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    Caller repeating = call(groupCommit, fern(1));
    table.awaitBatches(3);

    assertEquals(fern(2), groupCommit.putIfAbsent(fern(2)));
    table.refuseNothing();
    repeating.assertOwnPlant();
  }

  @Test
  void bug_is_told_to_its_callers_and_ends_no_writer() {
    table.release();
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    for (int time = 0; time < 10; time++) {
      table.crashNext();
      assertEquals(
          "a batch failed: java.lang.AssertionError: crash",
          call(groupCommit, fern(1)).failure().getMessage());
    }

    assertEquals(fern(1), groupCommit.putIfAbsent(fern(1)));
  }

  @Test
  void closing_answers_all_who_wait_and_refuses_new_plants() throws Exception {
    GroupCommit groupCommit = groupCommit(new GroupCommit.Limits(3, 1_000_000), LONG);
    List<Caller> callers = occupyAllWriters(groupCommit);
    callers.addAll(callAll(groupCommit, LongStream.range(0, 50)));
    Thread closing = new Thread(groupCommit::close);
    closing.start();
    await(() -> isClosing(closing));
    assertEquals("the store is closed", call(groupCommit, fern(99)).unavailable().getMessage());
    table.release();
    closing.join();

    assertEquals(54, table.rows());
    callers.forEach(Caller::assertOwnPlant);
  }

  @Test
  void interrupted_caller_waits_no_longer() {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    occupyAllWriters(groupCommit);
    Caller caller = call(groupCommit, fern(1));

    caller.thread.interrupt();

    assertEquals("interrupted while waiting for the database", caller.unavailable().getMessage());
    table.release();
    groupCommit.putIfAbsent(fern(2));
    assertTrue(table.batches().stream().noneMatch(batch -> batch.contains(1L)), table::toString);
  }

  @Test
  void interrupted_caller_stays_interrupted() throws Exception {
    GroupCommit groupCommit = groupCommit(WIDE, LONG);
    FutureTask<Boolean> isInterrupted =
        new FutureTask<>(() -> {
          assertThrows(
              PlantStoreUnavailableException.class, () -> groupCommit.putIfAbsent(fern(1)));
          return Thread.currentThread().isInterrupted();
        });
    Thread caller = new Thread(isInterrupted);
    caller.start();

    caller.interrupt();

    assertTrue(isInterrupted.get());
  }

  private GroupCommit groupCommit(GroupCommit.Limits limits, Duration patience) {
    GroupCommit groupCommit = new GroupCommit(table, limits, patience);
    opened.add(groupCommit);
    return groupCommit;
  }

  /** Has every writer write a batch, of one plant with a negative id each. */
  private List<Caller> occupyAllWriters(GroupCommit groupCommit) {
    List<Caller> callers = new ArrayList<>();
    for (int writer = 1; writer <= GroupCommit.WRITERS; writer++) {
      callers.add(call(groupCommit, fern(Long.MIN_VALUE + writer)));
      table.awaitBatches(writer);
    }
    return callers;
  }

  private static List<Caller> callAll(GroupCommit groupCommit, LongStream ids) {
    return ids.mapToObj(id -> call(groupCommit, fern(id))).toList();
  }

  /** Calls in a thread of its own, and returns when that waits for its answer or has ended. */
  private static Caller call(GroupCommit groupCommit, NewPlant plant) {
    FutureTask<NewPlant> result = new FutureTask<>(() -> groupCommit.putIfAbsent(plant));
    Caller caller = new Caller(plant, result, new Thread(result));
    caller.thread.start();
    await(() -> isWaitingForAnswer(caller.thread) || !caller.thread.isAlive());
    return caller;
  }

  /** Says whether the thread has put its plant into the queue; on the way there it may wait too. */
  private static boolean isWaitingForAnswer(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        && Stream.of(thread.getStackTrace())
            .anyMatch(frame -> frame.getClassName().equals(WaitingPlant.class.getName()));
  }

  /** Says whether the thread waits until all callers are answered. */
  private static boolean isClosing(Thread thread) {
    return Stream.of(thread.getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("awaitTermination"));
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      assertFalse(Thread.interrupted(), "waited in vain");
      Thread.onSpinWait();
    }
  }

  private static NewPlant fern(long id) {
    return new NewPlant(id, "fern", null);
  }

  private static NewPlant named(long id, int characters) {
    return new NewPlant(id, "f".repeat(characters), null);
  }

  private record Caller(NewPlant plant, FutureTask<NewPlant> result, Thread thread) {

    NewPlant stored() throws Exception {
      return result.get();
    }

    void assertOwnPlant() {
      try {
        assertEquals(plant, stored());
      } catch (Exception e) {
        throw new AssertionError("plant " + plant.id(), e);
      }
    }

    Throwable failure() {
      return requireNonNull(assertThrows(ExecutionException.class, result::get).getCause());
    }

    PlantStoreUnavailableException unavailable() {
      return assertInstanceOf(PlantStoreUnavailableException.class, failure());
    }
  }
}
