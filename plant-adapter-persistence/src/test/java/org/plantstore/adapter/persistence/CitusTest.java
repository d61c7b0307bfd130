package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.CitusNode.COORDINATOR;
import static org.plantstore.adapter.persistence.CitusNode.WORKER1;
import static org.plantstore.adapter.persistence.CitusNode.WORKER2;

import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Tests a Citus cluster that fails or changes while callers create plants with random ids. */
@Tag("citus")
class CitusTest {

  private static final int SHARDS = 8;

  /** Limits the number of creates in progress to the default of the service. */
  private final Semaphore permits = new Semaphore(1_024);

  private static final int CALLERS = 64;

  private static final String WAITING_ON_WORKERS =
      "SELECT sum(result::int) FROM run_command_on_workers("
          + "'SELECT count(*) FROM pg_locks WHERE NOT granted')";

  private record Create(long id, boolean isStored, long began, long ended) {}

  private final List<ApplicationContext> instances = new ArrayList<>();
  private final ExecutorService callers = Executors.newCachedThreadPool();
  private final Queue<Create> creates = new ConcurrentLinkedQueue<>();
  private volatile boolean isEnding;

  private List<PlantStore> start(CitusNode... nodes) {
    for (CitusNode node : nodes) {
      instances.add(node.connect(Map.of()));
    }
    return instances.stream().map(instance -> instance.getBean(PlantStore.class)).toList();
  }

  /** Starts the load. A caller waits for a create only if the predicate accepts its id. */
  private void load(List<PlantStore> stores, LongPredicate isWaitedFor) {
    for (int caller = 0; caller < CALLERS; caller++) {
      PlantStore store = stores.get(caller % stores.size());
      callers.execute(() -> {
        Random random = new Random();
        while (!isEnding) {
          long id = random.nextLong();
          CompletableFuture<Void> create = create(store, id);
          if (isWaitedFor.test(id)) {
            create.join();
          }
        }
      });
    }
  }

  private CompletableFuture<Void> create(PlantStore store, long id) {
    long began = System.nanoTime();
    if (!permits.tryAcquire()) {
      creates.add(new Create(id, false, began, began));
      LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
      return CompletableFuture.completedFuture(null);
    }
    return store
        .putIfAbsentAsync(new NewPlant(id, "fern " + id, null), Runnable::run)
        .handle((stored, failure) -> {
          permits.release();
          assertTrue(failure == null || failure instanceof PlantStoreUnavailableException);
          creates.add(new Create(id, failure == null, began, System.nanoTime()));
          return (Void) null;
        })
        .toCompletableFuture();
  }

  /**
   * Waits until at least this many creates with matching ids have begun and ended, and returns
   * these creates.
   */
  private List<Create> await(int number, LongPredicate ids) {
    long from = System.nanoTime();
    List<Create> since;
    do {
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      since =
          creates.stream()
              .filter(create -> create.began - from >= 0 && ids.test(create.id))
              .toList();
    } while (since.size() < number);
    return since;
  }

  /** Ends the load, and asserts that each acknowledged plant is in the table. */
  private void assertNoPlantIsLost() throws Exception {
    end();
    List<String> ids =
        creates.stream().filter(Create::isStored).map(each -> "" + each.id).distinct().toList();
    String inTable =
        COORDINATOR.single(
            "SELECT count(*) FROM plant WHERE name = 'fern ' || id AND id = ANY('{%s}')"
                .formatted(String.join(",", ids)));
    assertEquals("" + ids.size(), inTable, "acknowledged plants");
  }

  private void end() throws InterruptedException {
    isEnding = true;
    callers.shutdown();
    assertTrue(callers.awaitTermination(1, TimeUnit.MINUTES));
  }

  @AfterEach
  void stop() throws InterruptedException {
    end();
    instances.forEach(ApplicationContext::close);
  }

  @ParameterizedTest
  @ValueSource(ints = {SHARDS, 64})
  void dead_worker_affects_only_its_own_plants(int shards) throws Throwable {
    assertIsolated(shards, WORKER2::kill, WORKER2::start);
  }

  @ParameterizedTest
  @ValueSource(ints = {SHARDS, 64})
  void silent_worker_affects_only_its_own_plants(int shards) throws Throwable {
    assertIsolated(shards, () -> WORKER2.signal("STOP"), () -> WORKER2.signal("CONT"));
  }

  /**
   * Asserts that 99% of the creates for other workers succeed if they begin at least 2 s after the
   * failure.
   */
  private void assertIsolated(int shards, Executable failure, Executable recovery)
      throws Throwable {
    CitusNode.createTable(shards);
    LongPredicate fails = isOn(WORKER2);
    load(start(COORDINATOR, COORDINATOR), fails.negate());
    await(10_000, fails.negate());
    failure.execute();
    try {
      LockSupport.parkNanos(Duration.ofSeconds(2).toNanos());
      List<Create> others = await(10_000, fails.negate());
      long served = others.stream().filter(Create::isStored).count();
      assertTrue(served >= 0.99 * others.size(), () -> served + " of " + others.size());
    } finally {
      recovery.execute();
    }
    long back = System.nanoTime();
    Create first;
    do {
      first = await(1, fails).get(0);
    } while (!first.isStored());
    Duration outage = Duration.ofNanos(first.ended() - back);
    assertTrue(outage.toSeconds() < 7, () -> "served again after " + outage);
    assertNoPlantIsLost();
  }

  @Test
  void locked_id_hardly_delays_other_plants_of_its_shard() throws Exception {
    CitusNode.createTable(SHARDS);
    PlantStore store = start(COORDINATOR).get(0);
    try (Connection holder = WORKER1.connection()) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("INSERT INTO plant VALUES (1000, 'undecided')");
      callers.execute(() -> {
        while (!isEnding) {
          create(store, 1_000).join();
        }
      });
      Calls.await(() -> !COORDINATOR.single(WAITING_ON_WORKERS).equals("0"));
      String sameShard =
          "SELECT string_agg(id::text, ' ') FROM generate_series(1001, 3000) id WHERE"
              + " get_shard_id_for_distribution_column('plant', id)"
              + " = get_shard_id_for_distribution_column('plant', 1000)";
      List<Long> delays = new ArrayList<>();
      for (String id : COORDINATOR.single(sameShard).split(" ", -1)) {
        long began = System.nanoTime();
        create(store, Long.parseLong(id)).join();
        delays.add(System.nanoTime() - began);
      }
      Collections.sort(delays);
      Duration median = Duration.ofNanos(delays.get(delays.size() / 2));
      assertTrue(median.toMillis() <= 100, () -> "median: " + median);
      isEnding = true;
      Calls.await(
          () -> creates.stream().anyMatch(create -> create.id == 1_000 && !create.isStored));
    }
    assertNoPlantIsLost();
  }

  @Test
  void no_plant_is_lost_while_the_table_is_distributed_and_the_coordinator_is_killed()
      throws Exception {
    CitusNode.createTable();
    load(start(COORDINATOR, COORDINATOR), id -> true);
    await(20_000, id -> true);
    COORDINATOR.execute(
        "SET citus.shard_count = " + SHARDS,
        "SELECT create_distributed_table_concurrently('plant', 'id')");
    load(start(WORKER1).subList(2, 3), id -> true);
    for (int kill = 0; kill < 5; kill++) {
      await(10_000, id -> true);
      COORDINATOR.kill();
      COORDINATOR.start();
    }
    await(20_000, id -> true);
    assertNoPlantIsLost();
  }

  /** Returns whether an id belongs to a shard on the node, according to the metadata of Citus. */
  private static LongPredicate isOn(CitusNode node) throws SQLException {
    List<String> ranges =
        List.of(
            COORDINATOR
                .single(
                    "SELECT string_agg(shardminvalue || ':' || shardmaxvalue, ' ')"
                        + " FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)"
                        + " JOIN pg_dist_node USING (groupid) WHERE noderole = 'primary'"
                        + " AND nodename || ':' || nodeport = '%s'".formatted(node.address()))
                .split(" ", -1));
    return id ->
        ranges.stream()
            .map(range -> range.split(":", -1))
            .anyMatch(range ->
                Integer.parseInt(range[0]) <= Shards.hash(id)
                    && Shards.hash(id) <= Integer.parseInt(range[1]));
  }
}
