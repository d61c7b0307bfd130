package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.assertAllStored;
import static org.plantstore.adapter.persistence.Calls.await;
import static org.plantstore.adapter.persistence.Calls.fern;
import static org.plantstore.adapter.persistence.Calls.unavailable;

import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.domain.NewPlant;

/**
 * Two nodes that share threads. The node east stores negative ids, and can hang or fail. The node
 * west always works.
 */
@Timeout(60)
class NodeTest {

  private static final int WRITERS = 4;

  private final CompletableFuture<Void> released = new CompletableFuture<>();
  private final AtomicInteger inEast = new AtomicInteger();
  private final AtomicInteger mostInEast = new AtomicInteger();
  private final Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
  private volatile String failureState = "";

  @AutoClose("shutdownNow")
  private final ScheduledExecutorService sweeps = Executors.newScheduledThreadPool(1);

  @AutoClose("shutdownNow")
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          2 * WRITERS,
          work -> {
            Thread thread = new Thread(work);
            thread.setUncaughtExceptionHandler((ended, reason) -> uncaught.add(reason));
            return thread;
          });

  private final GroupCommit whole =
      new GroupCommit(
          this::write, () -> WRITERS, threads, Duration.ofHours(1), new StoreMetrics(null));
  private final Node east = new Node(whole, () -> WRITERS);
  private final Node west = new Node(whole, () -> WRITERS);

  @BeforeEach
  @SuppressWarnings("FutureReturnValueIgnored")
  void sweep() {
    for (Node node : List.of(east, west)) {
      sweeps.scheduleWithFixedDelay(node::sweep, 10, 10, TimeUnit.MILLISECONDS);
    }
  }

  private Map<Long, @Nullable NewPlant> write(SortedMap<Long, NewPlant> plants, boolean isRetry)
      throws DatabaseFailure {
    if (plants.firstKey() < 0) {
      mostInEast.accumulateAndGet(inEast.incrementAndGet(), Math::max);
      boolean isLocked = plants.containsKey(-1L);
      if (failureState.isEmpty() || isLocked) {
        released.join();
      }
      inEast.decrementAndGet();
      if (isLocked || (failureState.equals("08006") && !released.isDone())) {
        throw new DatabaseFailure(new SQLException("failed", failureState));
      }
    }
    return new HashMap<>(plants);
  }

  @AfterEach
  void assertNoThreadHasFailed() throws Exception {
    released.complete(null);
    threads.shutdown();
    assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
    assertEquals(List.of(), List.copyOf(uncaught));
  }

  /**
   * If there are 64 shards, some of them have no thread, but the number of their plants is limited
   * as well.
   */
  @ParameterizedTest
  @CsvSource({
    "4, '', 'the server is not responding, and too many plants are waiting'",
    "64, '', 'the server is not responding, and too many plants are waiting'",
    "4, 08006, failed (SQLSTATE 08006)",
    "64, 08006, failed (SQLSTATE 08006)",
  })
  void unresponsive_node_occupies_only_its_share_of_threads_and_plants(
      int shards, String state, String reason) throws Exception {
    failureState = state;
    List<CompletableFuture<Void>> inTrouble =
        putAll(east, shards, LongStream.rangeClosed(-3_000, -1_000));

    await(() -> east.queue.plants() <= Node.MAX_PLANTS);
    assertAllStored(putAll(west, shards, LongStream.range(0, 2_000)));
    List<CompletableFuture<Void>> late = putAll(east, shards, LongStream.range(-999, -99));
    await(() -> east.queue.plants() <= Node.MAX_PLANTS);

    assertTrue(mostInEast.get() <= WRITERS, () -> "in flight: " + mostInEast);
    assertEquals(Node.MAX_PLANTS, east.queue.plants());
    assertTrue(late.stream().allMatch(CompletableFuture::isCompletedExceptionally));
    if (state.isEmpty()) {
      assertEquals(reason, unavailable(late.get(0)));
    }
    released.complete(null);
    List<CompletableFuture<Void>> kept =
        inTrouble.stream().filter(call -> !call.isCompletedExceptionally()).toList();
    assertAllStored(kept.subList(0, 100));
    assertAllStored(putAll(east, shards, LongStream.range(-99, -50)));
  }

  @Test
  void locked_plant_does_not_delay_other_plants_of_its_shard() throws Exception {
    failureState = "55P03";
    var locked = putAll(east, 1, LongStream.of(-1)).get(0);
    await(() -> inEast.get() == 1);

    for (long id = -100; id < -1; id++) {
      putAll(east, 1, LongStream.of(id)).get(0).get();
    }
    assertTrue(!locked.isDone());
    released.complete(null);
    assertEquals("failed (SQLSTATE 55P03)", unavailable(locked));
  }

  /**
   * While one plant is locked and no other calls are made, no response shows that the node works.
   */
  @Test
  void plant_that_has_long_been_locked_does_not_delay_other_plants_of_its_node() throws Exception {
    failureState = "55P03";
    putAll(east, 1, LongStream.of(-1));
    await(() -> inEast.get() == 1);
    long began = System.nanoTime();
    await(() -> System.nanoTime() - began > Duration.ofMillis(400).toNanos());

    assertAllStored(putAll(east, 1, LongStream.range(-100, -1)));
  }

  @Test
  void node_whose_last_call_failed_long_ago_accepts_as_many_plants_as_before() throws Exception {
    failureState = "57014";
    released.complete(null);
    unavailable(putAll(east, 1, LongStream.of(-1)).get(0));
    long began = System.nanoTime();
    await(() -> System.nanoTime() - began > Duration.ofMillis(400).toNanos());

    assertAllStored(putAll(east, 1, LongStream.range(-1_000, -2)));
  }

  private static List<CompletableFuture<Void>> putAll(Node node, int shards, LongStream ids) {
    return ids.mapToObj(id ->
            Calls.returnsFern(id, node.queue.putIfAbsent(fern(id), Math.floorMod(id, shards))))
        .toList();
  }
}
