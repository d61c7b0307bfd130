package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.assertAllStored;
import static org.plantstore.adapter.persistence.Calls.await;
import static org.plantstore.adapter.persistence.Calls.failure;
import static org.plantstore.adapter.persistence.Calls.fern;
import static org.plantstore.adapter.persistence.Calls.unavailable;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.PendingPlants.Batch;
import org.plantstore.adapter.persistence.PendingPlants.Call;
import org.plantstore.domain.NewPlant;

/** The group commit with a table in memory, which tests can block or make fail. */
@Timeout(60)
class GroupCommitTest {

  private static final int WRITERS = 4;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String LOST = "08006";
  private static final String LOCKED = "55P03";
  private static final String CANCELED = "57014";

  private final Map<Long, NewPlant> rows = new ConcurrentHashMap<>();

  /** The ids of each batch, in the order of the batches. */
  private final List<List<Long>> batches = new CopyOnWriteArrayList<>();

  private final CompletableFuture<Void> released = new CompletableFuture<>();
  private volatile GroupCommit.Table table = this::store;

  @AutoClose("shutdownNow")
  private final ScheduledExecutorService sweeps = Executors.newScheduledThreadPool(1);

  @AutoClose("shutdownNow")
  private final ThreadPoolExecutor writers =
      (ThreadPoolExecutor) Executors.newFixedThreadPool(WRITERS);

  private GroupCommit groupCommit;

  @BeforeEach
  @SuppressWarnings("FutureReturnValueIgnored")
  void open() {
    GroupCommit opened = newGroupCommit(HOUR);
    sweeps.scheduleWithFixedDelay(opened::sweep, 10, 10, TimeUnit.MILLISECONDS);
    groupCommit = opened;
  }

  /** Opens a queue in which every plant is overdue as soon as the test calls sweep(). */
  private void openWithoutSweeps() {
    groupCommit = newGroupCommit(Duration.ZERO);
  }

  private GroupCommit newGroupCommit(Duration timeout) {
    return new GroupCommit(this::write, () -> WRITERS, writers, timeout, new StoreMetrics(null));
  }

  private Map<Long, @Nullable NewPlant> write(SortedMap<Long, NewPlant> plants, boolean isRetry)
      throws DatabaseFailure {
    batches.add(List.copyOf(plants.keySet()));
    released.join();
    return table.putIfAbsent(plants, isRetry);
  }

  private Map<Long, @Nullable NewPlant> store(SortedMap<Long, NewPlant> plants, boolean isRetry) {
    plants.forEach(rows::putIfAbsent);
    return new HashMap<>(rows);
  }

  private void release() {
    released.complete(null);
  }

  private void awaitBatches(int number) throws Exception {
    await(() -> batches.size() >= number);
  }

  @Test
  void plants_that_arrive_while_batches_are_in_flight_form_the_next_batch_sorted_by_id()
      throws Exception {
    List<CompletableFuture<Void>> calls = occupyAllWriters();

    calls.addAll(callAll(9, -3, 7));
    assertEquals(3, groupCommit.waitingPlants());
    assertTrue(groupCommit.putIfAbsent(fern(8)).cancel(false));
    release();

    assertAllStored(calls);
    assertEquals(List.of(-3L, 7L, 9L), lastBatch());
    assertEquals(0, groupCommit.plants());
  }

  @Test
  void batches_are_limited_in_plants_and_bytes_but_a_larger_plant_is_written_alone()
      throws Exception {
    occupyAllWriters();
    // A character counts as 3 bytes.
    String tenth = "f".repeat((int) PendingPlants.MAX_BYTES / 3 / 10);
    List<NewPlant> large =
        List.of(
            new NewPlant(0, tenth.repeat(5), null),
            new NewPlant(1, tenth.repeat(4), tenth),
            new NewPlant(2, tenth.repeat(5), null),
            new NewPlant(3, tenth.repeat(5), tenth),
            new NewPlant(4, "f", null),
            new NewPlant(5, tenth.repeat(11), null));
    var calls = large.stream().map(plant -> groupCommit.putIfAbsent(plant)).toList();
    var small = callAll(LongStream.rangeClosed(6, 6 + PendingPlants.MAX_PLANTS).toArray());
    release();

    for (NewPlant plant : large) {
      assertEquals(plant, calls.get((int) plant.id()).get());
    }
    assertAllStored(small);
    assertEquals(
        List.of("0: 2", "2: 1", "3: 2", "5: 1", "6: 256", "262: 1"),
        batches.stream()
            .filter(batch -> batch.get(0) >= 0)
            .sorted(Comparator.comparing(batch -> batch.get(0)))
            .map(batch -> batch.get(0) + ": " + batch.size())
            .toList());
  }

  @Test
  void plants_are_not_written_after_their_deadline_or_if_their_call_was_canceled()
      throws Exception {
    openWithoutSweeps();
    List<CompletableFuture<Void>> calls = occupyAllWriters();
    calls.addAll(callAll(0, 1, 2));
    assertTrue(groupCommit.putIfAbsent(fern(3)).cancel(false));

    groupCommit.sweep();
    for (CompletableFuture<Void> call : calls) {
      assertEquals("the database did not respond in time", unavailable(call));
    }

    groupCommit.sweep();
    assertEquals(0, groupCommit.waitingPlants());
    release();
    call(77).get();
    assertEquals(List.of(77L), lastBatch());
    assertEquals(WRITERS + 1, batches.size(), batches::toString);
  }

  @Test
  void next_batch_starts_after_20_ms_even_if_the_previous_batch_is_still_running()
      throws Exception {
    long begin = System.nanoTime();
    var first = call(0);
    awaitBatches(1);
    var second = call(1);
    awaitBatches(2);

    assertTrue(System.nanoTime() - begin >= Duration.ofMillis(20).toNanos());
    release();
    assertAllStored(List.of(first, second));
  }

  @Test
  void batch_contains_plants_of_a_single_shard_beginning_with_the_oldest_plant() throws Exception {
    List<CompletableFuture<Void>> calls = occupyAllWriters();
    for (long id = 0; id < 6; id++) {
      int shard = (int) (id + 1) % 3;
      calls.add(Calls.returnsFern(id, groupCommit.putIfAbsent(fern(id), shard)));
    }
    release();

    assertAllStored(calls);
    assertEquals(
        Set.of(List.of(0L, 3L), List.of(1L, 4L), List.of(2L, 5L)),
        Set.copyOf(batches.subList(WRITERS, batches.size())));
  }

  /** If the table is distributed, a node can have a single thread. */
  @Test
  void new_plants_do_not_delay_a_retried_plant_forever() throws Exception {
    groupCommit = new GroupCommit(this::write, () -> 1, writers, HOUR, new StoreMetrics(null));
    CompletableFuture<Void> retried = new CompletableFuture<>();
    table =
        (plants, isRetry) -> {
          if (isRetry) {
            retried.complete(null);
          } else if (!retried.isDone()) {
            var unused = groupCommit.putIfAbsent(fern(plants.firstKey() - 1));
          }
          if (plants.containsKey(1L)) {
            throw new DatabaseFailure(new SQLException("locked", LOCKED));
          }
          return store(plants, isRetry);
        };
    release();

    assertEquals("locked (SQLSTATE 55P03)", unavailable(call(1)));
  }

  /** Locked plants are retried one at a time, while new plants are stored. */
  @Test
  void locked_plant_is_retried_once_on_its_own_and_then_fails() throws Exception {
    AtomicInteger inFlight = new AtomicInteger();
    table =
        (plants, isRetry) -> {
          if (plants.keySet().stream().noneMatch(id -> id % 2 == 0 && id >= 0)) {
            return store(plants, isRetry);
          }
          assertEquals(isRetry, plants.size() == 1);
          assertTrue(!isRetry || inFlight.incrementAndGet() == 1, "several retries at once");
          LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
          inFlight.addAndGet(isRetry ? -1 : 0);
          throw new DatabaseFailure(new SQLException("locked", LOCKED));
        };

    List<CompletableFuture<Void>> calls = callInOneBatch(0, 1, 2, 3, 4, 5);
    awaitBatches(WRITERS + 2);
    call(101).get();

    for (int id = 0; id < 6; id += 2) {
      assertEquals("locked (SQLSTATE 55P03)", unavailable(calls.get(id)));
      calls.get(id + 1).get();
    }
    for (long id = 0; id < 6; id++) {
      assertTrue(batches.contains(List.of(id)), batches::toString);
    }
  }

  @Test
  void missing_or_invalid_row_fails_only_the_plant_with_its_id() throws Exception {
    table =
        (plants, isRetry) -> {
          var stored = store(plants, isRetry);
          stored.remove(1L);
          stored.put(2L, null);
          return stored;
        };

    List<CompletableFuture<Void>> calls = callInOneBatch(1, 2, 3);

    assertEquals(
        "the row with the id 1 in the table plant is hidden or was deleted",
        unavailable(calls.get(0)));
    Throwable reason = assertInstanceOf(IllegalStateException.class, failure(calls.get(1)));
    assertEquals(
        "the row with the id 2 in the table plant is not a valid plant", reason.getMessage());
    calls.get(2).get();
    assertEquals(2, batches.stream().filter(batch -> batch.contains(1L)).count());
  }

  @Test
  void failure_of_the_whole_batch_is_not_retried() throws Exception {
    failWith(2, CANCELED);

    List<CompletableFuture<Void>> calls = callInOneBatch(1, 2);

    calls.forEach(call -> assertEquals("failed (SQLSTATE 57014)", unavailable(call)));
    assertNotSame(
        failure(calls.get(0)), failure(calls.get(1)), "callers may add suppressed exceptions");
    assertEquals(1, batches.stream().filter(batch -> batch.contains(2L)).count());
  }

  @Test
  void batch_that_was_written_before_its_connection_was_lost_succeeds() throws Exception {
    table =
        (plants, isRetry) -> {
          store(plants, isRetry);
          table = this::store;
          throw new DatabaseFailure(new SQLException("lost", LOST));
        };
    var call = call(1);
    awaitBatches(1);
    release();

    call.get();
    assertEquals(List.of(List.of(1L), List.of(1L)), batches);
  }

  @Test
  void batch_is_retried_until_the_deadline_and_callers_receive_the_reason() throws Exception {
    openWithoutSweeps();
    release();
    failWith(1, LOST);

    CompletableFuture<Void> call = call(1);
    awaitBatches(3);
    groupCommit.sweep();
    assertEquals("failed (SQLSTATE 08006)", unavailable(call));
  }

  @Test
  void unexpected_error_is_reported_to_the_callers_and_the_writer_continues() throws Exception {
    table =
        (plants, isRetry) -> {
          throw new AssertionError("crash");
        };
    release();
    for (int time = 0; time <= WRITERS; time++) {
      assertEquals(
          "a batch failed: java.lang.AssertionError: crash", failure(call(1)).getMessage());
    }
    Throwable bug = failure(call(1));
    assertNull(bug.getCause(), "R7");
    assertEquals(getClass().getName(), bug.getStackTrace()[0].getClassName());
    assertEquals(WRITERS + 2, batches.size(), "no retry");

    table = this::store;
    call(1).get();
  }

  /** Handling the error also fails, as can happen if no memory is free. */
  @Test
  void writers_that_fail_are_replaced_and_their_plants_fail_at_the_deadline() throws Exception {
    openWithoutSweeps();
    release();
    table =
        (plants, isRetry) -> {
          throw new Error() {
            private static final long serialVersionUID = 1L;

            @Override
            public String getMessage() {
              throw new AssertionError("in the handler");
            }
          };
        };
    List<String> log =
        Calls.log(
            GroupCommit.class.getName(),
            () -> {
              for (int time = 0; time <= WRITERS; time++) {
                CompletableFuture<Void> call = call(time);
                int attempts = time + 1;
                assertDoesNotThrow(
                    () -> await(() -> batches.size() == attempts && writers.getActiveCount() == 0));
                groupCommit.sweep();
                assertEquals("the database did not respond in time", unavailable(call));
                groupCommit.sweep(); // only now removes the batch of the failed writer
              }
            });

    assertEquals("ERROR A plant writer has failed and is being replaced", log.get(WRITERS));
    table = this::store;
    call(1).get();
  }

  /** The missing plant makes forming the batch fail halfway, as it may if no memory is free. */
  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void plants_whose_batch_cannot_be_formed_fail_at_the_deadline() throws Exception {
    openWithoutSweeps();
    occupyAllWriters();
    List<CompletableFuture<Void>> calls = callAll(1, 2);
    CompletableFuture<NewPlant> missing = groupCommit.putIfAbsent(null);
    release();
    await(() -> groupCommit.waitingPlants() <= 1);
    missing.cancel(false);
    groupCommit.sweep();

    for (CompletableFuture<Void> call : calls) {
      assertEquals("the database did not respond in time", unavailable(call));
    }
    groupCommit.sweep(); // only now removes the failed batch
    call(1).get();
  }

  /** The missing call makes the return fail halfway, as it may if no memory is free. */
  @Test
  void calls_are_kept_if_returning_them_to_their_queue_fails() {
    PendingPlants pending = new PendingPlants();
    Call call = new Call(fern(1), 0);
    pending.add(call);
    Batch batch = requireNonNull(pending.next(null, WRITERS));
    batch.calls().add(0, null);
    DatabaseFailure failure = new DatabaseFailure(new SQLException("lost", LOST));

    assertThrows(NullPointerException.class, () -> pending.retryBatch(batch, failure));

    batch.calls().remove(0);
    assertTrue(pending.overdue(Duration.ZERO).contains(call));
  }

  /** Calls the group commit while all writers are busy, and then releases the writers. */
  private List<CompletableFuture<Void>> callInOneBatch(long... ids) throws Exception {
    occupyAllWriters();
    List<CompletableFuture<Void>> calls = callAll(ids);
    release();
    return calls;
  }

  private void failWith(long id, String state) {
    table =
        (plants, isRetry) -> {
          if (plants.containsKey(id)) {
            throw new DatabaseFailure(new SQLException("failed", state));
          }
          return store(plants, isRetry);
        };
  }

  /**
   * Occupies every writer with a batch of one plant, whose id is negative. Waits before each batch,
   * so that the batch begins without a sweep.
   */
  private List<CompletableFuture<Void>> occupyAllWriters() throws Exception {
    List<CompletableFuture<Void>> calls = new ArrayList<>();
    for (int writer = 1; writer <= WRITERS; writer++) {
      calls.add(call(writer - 100));
      awaitBatches(writer);
      long began = System.nanoTime();
      await(() -> System.nanoTime() - began >= Duration.ofMillis(20).toNanos());
    }
    return calls;
  }

  private List<CompletableFuture<Void>> callAll(long... ids) {
    return LongStream.of(ids).mapToObj(this::call).toList();
  }

  private CompletableFuture<Void> call(long id) {
    return Calls.returnsFern(id, groupCommit.putIfAbsent(fern(id)));
  }

  private List<Long> lastBatch() {
    return batches.get(batches.size() - 1);
  }
}
