package org.plantstore.adapter.persistence.batch;

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

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.Calls;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** The group commit without a database: its table is in memory, can be held up and can fail. */
@Tag("newest")
@Timeout(30)
class GroupCommitTest {

  private final Map<Long, NewPlant> rows = new ConcurrentHashMap<>();

  /** The ids of each batch, in the order of the batches. */
  private final List<List<Long>> batches = new CopyOnWriteArrayList<>();

  private final CompletableFuture<Void> released = new CompletableFuture<>();
  private volatile GroupCommit.Table table = this::store;
  private volatile Supplier<Duration> timeout = () -> Duration.ofSeconds(20);
  private final PlantQueue.Counts counts =
      new PlantQueue.Counts(new LongAdder(), new LongAdder(), new LongAdder());
  private final Semaphore slots = new Semaphore(GroupCommit.WRITERS);
  private final GroupCommit groupCommit =
      new GroupCommit(
          "the database", this::write, this::acquireSlot, plant -> 0, () -> timeout.get(), counts);

  private Runnable acquireSlot() throws InterruptedException {
    slots.acquire();
    return slots::release;
  }

  private Map<Long, NewPlant> write(SortedMap<Long, NewPlant> plants) throws BatchFailure {
    batches.add(List.copyOf(plants.keySet()));
    released.join();
    return table.putIfAbsent(plants);
  }

  private Map<Long, NewPlant> store(SortedMap<Long, NewPlant> plants) {
    plants.forEach(rows::putIfAbsent);
    return rows;
  }

  private void release() {
    released.complete(null);
  }

  private void awaitBatches(int number) throws Exception {
    await(() -> batches.size() >= number);
  }

  @AfterEach
  @Timeout(30)
  void close() {
    release();
    groupCommit.close();
  }

  @Test
  void plants_that_queue_while_a_batch_is_written_are_the_next_batch_in_the_order_of_ids()
      throws Exception {
    long began = System.nanoTime();
    List<CompletableFuture<Void>> calls = occupyAllWriters();

    calls.addAll(callAll(9, -3, 7));
    assertEquals(3, groupCommit.waitingPlants());
    release();

    assertAllStored(calls);
    assertEquals(List.of(-3L, 7L, 9L), lastBatch());
    assertEquals(calls.size(), counts.taken().sum());
    assertTrue(counts.nanosWaited().sum() > 0);
    assertTrue(counts.nanosWaited().sum() < calls.size() * (System.nanoTime() - began));
  }

  @Test
  void batch_waits_for_a_slot_and_takes_the_plants_that_queue_meanwhile() throws Exception {
    slots.acquire(GroupCommit.WRITERS);
    List<CompletableFuture<Void>> calls = callAll(1, 2, 3);
    assertEquals(3, groupCommit.waitingPlants());

    slots.release();
    awaitBatches(1);

    assertEquals(List.of(List.of(1L, 2L, 3L)), batches);
    assertEquals(0, groupCommit.waitingPlants());
    release();
    assertAllStored(calls);
    await(() -> slots.availablePermits() == 1);
  }

  @Test
  void plant_wakes_a_waiting_writer() throws Exception {
    BatchQueue queue = new BatchQueue();
    Thread writer = new Thread(() -> assertDoesNotThrow(queue::awaitReady));
    writer.setDaemon(true);
    writer.start();
    await(() -> writer.getState() == Thread.State.WAITING);
    var stored = new CompletableFuture<NewPlant>();

    queue.add(new WaitingPlant(fern(1), 0, stored, 0, 0, null));

    writer.join();
  }

  @Test
  void number_of_plants_and_bytes_of_a_batch_are_limited_but_not_those_of_a_plant()
      throws Exception {
    occupyAllWriters();
    // A character counts as 3 bytes.
    String tenth = "f".repeat((int) BatchQueue.MAX_BYTES / 3 / 10);
    List<NewPlant> large =
        List.of(
            new NewPlant(0, tenth.repeat(5), null),
            new NewPlant(1, tenth.repeat(4), tenth),
            new NewPlant(2, tenth.repeat(5), null),
            new NewPlant(3, tenth.repeat(5), tenth),
            new NewPlant(4, "f", null),
            new NewPlant(5, tenth.repeat(11), null));
    var calls = large.stream().map(plant -> groupCommit.putIfAbsent(plant)).toList();
    var small = callAll(LongStream.rangeClosed(6, 6 + BatchQueue.MAX_PLANTS).toArray());
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
  void plants_leave_the_queue_unwritten_at_their_deadline_and_if_their_call_is_cancelled()
      throws Exception {
    timeout = () -> Duration.ofMillis(300);
    List<CompletableFuture<Void>> calls = occupyAllWriters();
    calls.addAll(callAll(0, 1, 2));
    assertTrue(groupCommit.putIfAbsent(fern(3)).cancel(false));

    for (CompletableFuture<Void> call : calls) {
      assertEquals("the database has not answered in time", unavailable(call));
    }

    await(() -> groupCommit.waitingPlants() == 0);
    release();
    call(77).get();
    assertEquals(List.of(77L), lastBatch());
    assertEquals(GroupCommit.WRITERS + 1, batches.size(), batches::toString);
  }

  /** An error or exception must not end the sweeps. */
  @Test
  void deadlines_are_kept_after_a_sweep_that_failed() {
    AtomicInteger sweeps = new AtomicInteger();
    Supplier<Duration> failing =
        () ->
            switch (sweeps.incrementAndGet()) {
              case 1 -> throw new IllegalStateException("once");
              case 2 -> throw new Error("twice");
              default -> Duration.ZERO;
            };

    List<String> log =
        Calls.log(
            Sweeps.class.getName(),
            () -> {
              timeout = failing;
              assertEquals("the database has not answered in time", unavailable(call(1)));
            });

    assertEquals(
        List.of("ERROR Deadlines of plants cannot be enforced, and are tried again"),
        log,
        "the first of several in a row");
  }

  @Test
  void batch_that_cannot_be_counted_is_answered_and_gives_its_slot_back() throws Exception {
    release();
    PlantQueue.Counts broken =
        new PlantQueue.Counts(
            new LongAdder() {
              private static final long serialVersionUID = 1L;

              @Override
              public void add(long plants) {
                throw new OutOfMemoryError("no counter");
              }
            },
            new LongAdder(),
            new LongAdder());
    try (PlantQueue failing =
        new GroupCommit("the database", table, this::acquireSlot, plant -> 0, timeout, broken)) {
      for (int time = 0; time <= 2 * GroupCommit.WRITERS; time++) {
        assertEquals(
            "a batch failed: java.lang.OutOfMemoryError: no counter",
            failure(failing.putIfAbsent(fern(1))).getMessage());
      }
    }
    await(() -> slots.availablePermits() == GroupCommit.WRITERS);
  }

  @Test
  void cancelled_plant_between_others_is_not_written_with_them() throws Exception {
    occupyAllWriters();
    var first = call(1);
    assertTrue(groupCommit.putIfAbsent(fern(2)).cancel(false));
    var last = call(3);
    release();

    assertAllStored(List.of(first, last));
    assertEquals(List.of(1L, 3L), lastBatch());
    assertEquals(0, groupCommit.waitingPlants());
  }

  @Test
  void interrupt_ends_the_wait_for_the_end_and_is_kept() throws Exception {
    occupyAllWriters();
    Thread.currentThread().interrupt();

    groupCommit.close();

    assertTrue(Thread.interrupted());
  }

  @Test
  void group_commit_whose_last_thread_cannot_start_ends_the_others() throws Exception {
    groupCommit.close();
    await(() -> plantThreads().findAny().isEmpty());
    ThreadFactory factory = Sweeps.EXECUTOR.getThreadFactory();
    Sweeps.EXECUTOR.setThreadFactory(work -> {
      throw new OutOfMemoryError("no thread");
    });
    try {
      assertThrows(OutOfMemoryError.class, () -> new GroupCommit(table, timeout.get(), counts));
    } finally {
      Sweeps.EXECUTOR.setThreadFactory(factory);
    }
    await(() -> plantThreads().findAny().isEmpty());
    release();

    try (PlantQueue next = new GroupCommit(table, timeout.get(), counts)) {
      for (long id = 0; id <= 2 * GroupCommit.WRITERS; id++) {
        next.putIfAbsent(fern(id)).get();
      }
    }
    await(Sweeps.EXECUTOR.getQueue()::isEmpty);
  }

  @Test
  void batch_is_waited_for_as_long_as_usual_and_then_overtaken() throws Exception {
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
  void plant_that_makes_its_batch_fail_does_not_take_its_neighbours_with_it() throws Exception {
    refuse(2, Retry.EACH, Duration.ZERO, false);

    List<CompletableFuture<Void>> calls = callInOneBatch(1, 2, 3);

    calls.get(0).get();
    calls.get(2).get();
    Throwable reason = failure(calls.get(1));
    assertEquals("refused", assertInstanceOf(IllegalStateException.class, reason).getMessage());
  }

  @Test
  void plant_whose_neighbour_is_refused_is_not_refused_at_its_deadline() {
    BatchFailure refused = new BatchFailure(Retry.EACH, Duration.ZERO, false, "refused");

    assertInstanceOf(PlantStoreUnavailableException.class, groupCommit.reasonAtDeadline(refused));
  }

  @Test
  void plant_with_a_locked_id_is_retried_on_its_own_after_the_pause_until_the_id_is_free()
      throws Exception {
    Duration pause = Duration.ofMillis(100);
    refuse(2, Retry.EACH, pause, true);
    occupyAllWriters();
    List<CompletableFuture<Void>> calls = callAll(1, 2);
    long released = System.nanoTime();
    release();

    calls.get(0).get();
    assertTrue(System.nanoTime() - released >= pause.toNanos());
    int retries = batches.size();
    awaitBatches(retries + 2);
    table = this::store;
    calls.get(1).get();
    assertTrue(batches.stream().skip(retries).allMatch(List.of(2L)::equals), batches::toString);
  }

  @Test
  void plant_that_cannot_be_read_is_retried_until_its_deadline() {
    timeout = () -> Duration.ofMillis(300);
    release();
    table = plants -> Map.of();

    assertEquals("the plant that has the id cannot be read", unavailable(call(1)));
    assertTrue(batches.size() > 1, batches::toString);
  }

  @Test
  void failure_of_the_whole_batch_is_not_retried() throws Exception {
    refuse(2, Retry.NEVER, Duration.ZERO, true);

    List<CompletableFuture<Void>> calls = callInOneBatch(1, 2);

    calls.forEach(call -> assertEquals("refused", unavailable(call)));
    Throwable reason = failure(calls.get(0));
    assertNotSame(reason, failure(calls.get(1)), "callers may add suppressed exceptions");
    assertEquals(1, batches.stream().filter(batch -> batch.contains(2L)).count());
  }

  @Test
  void bug_is_thrown_to_its_callers_and_ends_no_writer() throws Exception {
    table =
        plants -> {
          throw new AssertionError("crash");
        };
    release();
    for (int time = 0; time <= GroupCommit.WRITERS; time++) {
      assertEquals(
          "a batch failed: java.lang.AssertionError: crash", failure(call(1)).getMessage());
    }
    Throwable bug = failure(call(1));
    assertNull(bug.getCause(), "R7");
    assertEquals(getClass().getName(), bug.getStackTrace()[0].getClassName());
    assertEquals(GroupCommit.WRITERS + 2, batches.size(), "no retry");

    table = this::store;
    call(1).get();
  }

  @Test
  void closing_writes_waiting_plants_refuses_new_ones_and_ends_all_threads() throws Exception {
    List<CompletableFuture<Void>> calls = occupyAllWriters();
    assertTrue(plantThreads().allMatch(Thread::isDaemon), "none keeps a JVM from its end");
    calls.addAll(callAll(LongStream.range(0, 3 * BatchQueue.MAX_PLANTS).toArray()));
    Thread closing = new Thread(groupCommit::close);
    closing.start();
    await(() -> closing.getState() == Thread.State.WAITING);
    assertEquals("the store is closed", unavailable(call(9_999)));
    release();
    closing.join();

    assertAllStored(calls);
    await(() -> plantThreads().findAny().isEmpty());
  }

  private static Stream<Thread> plantThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("plant-"));
  }

  @Test
  void batch_that_was_written_although_its_connection_was_lost_is_found_also_after_closing()
      throws Exception {
    table =
        plants -> {
          store(plants);
          table = this::store;
          throw new BatchFailure(Retry.BATCH, Duration.ZERO, true, "lost");
        };
    var call = call(1);
    awaitBatches(1);
    groupCommit.shutdown();
    release();

    call.get();
    assertEquals(List.of(List.of(1L), List.of(1L)), batches);
  }

  /** Calls while all writers are busy, and releases them. */
  private List<CompletableFuture<Void>> callInOneBatch(long... ids) throws Exception {
    occupyAllWriters();
    List<CompletableFuture<Void>> calls = callAll(ids);
    release();
    return calls;
  }

  private void refuse(long id, Retry retry, Duration pause, boolean isTransient) {
    table =
        plants -> {
          if (plants.containsKey(id)) {
            throw new BatchFailure(retry, pause, isTransient, "refused");
          }
          return store(plants);
        };
  }

  /** Has every writer write a batch, of one plant with a negative id each. */
  private List<CompletableFuture<Void>> occupyAllWriters() throws Exception {
    List<CompletableFuture<Void>> calls = new ArrayList<>();
    for (int writer = 1; writer <= GroupCommit.WRITERS; writer++) {
      calls.add(call(writer - 100));
      awaitBatches(writer);
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
