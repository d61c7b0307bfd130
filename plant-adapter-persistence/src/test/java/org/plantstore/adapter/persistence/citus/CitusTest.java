package org.plantstore.adapter.persistence.citus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.citus.CitusNode.COORDINATOR;
import static org.plantstore.adapter.persistence.citus.CitusNode.WORKER1;
import static org.plantstore.adapter.persistence.citus.CitusNode.WORKER2;

import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.plantstore.adapter.persistence.Calls;
import org.plantstore.adapter.persistence.batch.PlantQueue;
import org.plantstore.adapter.persistence.citus.CitusLoad.Create;
import org.plantstore.domain.PlantStore;

/** Faults and changes of a cluster of Citus under load. */
@Tag("citus")
class CitusTest {

  private static final int SHARDS = Integer.getInteger("citus.shards", 8);

  private static final String WAITING_AT_WORKERS =
      "SELECT sum(result::int) FROM run_command_on_workers("
          + "'SELECT count(*) FROM pg_locks WHERE NOT granted')";

  private final List<ApplicationContext> instances = new ArrayList<>();

  private List<PlantStore> start(CitusNode... nodes) {
    for (CitusNode node : nodes) {
      instances.add(node.connect(Map.of()));
    }
    return instances.stream().map(instance -> instance.getBean(PlantStore.class)).toList();
  }

  @AfterEach
  void stop() {
    instances.forEach(ApplicationContext::close);
  }

  @Test
  void dead_worker_costs_only_its_own_plants() throws Throwable {
    assertApart(WORKER2::kill, WORKER2::start);
  }

  @Test
  void silent_worker_costs_only_its_own_plants() throws Throwable {
    assertApart(() -> WORKER2.signal("STOP"), () -> WORKER2.signal("CONT"));
  }

  /** Connections are kept, because the server that answers has not failed. */
  @Test
  void read_only_worker_costs_only_its_own_plants() throws Throwable {
    assertApart(() -> setReadOnly("on"), () -> setReadOnly("off"));
  }

  private static void setReadOnly(String value) {
    WORKER2.execute(
        "SET default_transaction_read_only = off",
        "ALTER SYSTEM SET default_transaction_read_only = " + value,
        "SELECT pg_reload_conf()");
  }

  private void assertApart(Executable failure, Executable recovery) throws Throwable {
    CitusNode.makeTable(SHARDS);
    List<PlantStore> stores = start(COORDINATOR, COORDINATOR);
    LongPredicate fails = isAt(WORKER2);
    try (CitusLoad load = new CitusLoad(stores)) {
      List<Create> before = load.await(20_000, fails.negate());
      failure.execute();
      try {
        List<Create> served = load.await(40_000, fails.negate());
        assertEquals(List.of(), served.stream().filter(create -> !create.isStored()).toList());
        Duration limit = CitusLoad.p99(before).multipliedBy(2);
        assertTrue(CitusLoad.p99(served).compareTo(limit) <= 0, "p99 beyond " + limit);
      } finally {
        recovery.execute();
      }
      long back = System.nanoTime();
      Create first;
      do {
        first = load.await(1, fails).get(0);
      } while (!first.isStored());
      Duration outage = Duration.ofNanos(first.ended() - back);
      assertTrue(outage.toMillis() < 2_000, () -> "served again after " + outage);
      load.assertNothingIsLost(COORDINATOR);
    }
  }

  @Test
  void bystanders_of_a_locked_id_are_served() throws Exception {
    CitusNode.makeTable(SHARDS);
    PlantStore store = start(COORDINATOR).get(0);
    try (Connection holder = WORKER1.connection()) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("INSERT INTO plant VALUES (1000, 'undecided')");
      var held = Calls.putAll(store, LongStream.of(1_000)).get(0);
      Calls.await(() -> !COORDINATOR.single(WAITING_AT_WORKERS).equals("0"));
      Calls.assertAllStored(Calls.putAll(store, LongStream.range(1_001, 1_041)));
      Calls.unavailable(held);
    }
  }

  @Test
  void table_is_distributed_while_plants_are_created() throws Exception {
    CitusNode.makeTable();
    try (CitusLoad load = new CitusLoad(start(COORDINATOR, COORDINATOR))) {
      load.await(20_000, id -> true);
      COORDINATOR.execute(
          "SET citus.shard_count = " + SHARDS,
          "SELECT create_distributed_table_concurrently('plant', 'id')");
      load.await(5_000, id -> true);
      load.assertNothingIsLost(COORDINATOR);
    }
  }

  @Test
  void coordinator_is_killed_while_plants_are_created() throws Exception {
    CitusNode.makeTable(SHARDS);
    try (CitusLoad load = new CitusLoad(start(COORDINATOR, WORKER1))) {
      for (int kill = 0; kill < 5; kill++) {
        load.await(10_000, id -> true);
        COORDINATOR.kill();
        COORDINATOR.start();
      }
      load.await(20_000, id -> true);
      load.assertNothingIsLost(COORDINATOR);
    }
  }

  private LongPredicate isAt(CitusNode node) {
    Shards shards = ((ShardedQueue) instances.get(0).getBean(PlantQueue.class)).shards;
    String address = node.address();
    return id -> shards.of(id).lane().node().equals(address);
  }
}
