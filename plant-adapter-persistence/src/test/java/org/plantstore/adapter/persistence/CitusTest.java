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
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.plantstore.adapter.persistence.CitusLoad.Create;
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

  private void assertApart(Executable failure, Executable recovery) throws Throwable {
    CitusNode.makeTable(SHARDS);
    LongPredicate fails = isAt(WORKER2);
    try (CitusLoad load = new CitusLoad(start(COORDINATOR, COORDINATOR), fails.negate())) {
      load.await(10_000, fails.negate());
      failure.execute();
      try {
        List<Create> served = load.await(20_000, fails.negate());
        assertEquals(List.of(), served.stream().filter(create -> !create.isStored()).toList());
        System.out.println("p99 of the others: " + CitusLoad.p99(served));
      } finally {
        recovery.execute();
      }
      long back = System.nanoTime();
      Create first;
      do {
        first = load.await(1, fails).get(0);
      } while (!first.isStored());
      Duration outage = Duration.ofNanos(first.ended() - back);
      assertTrue(outage.toSeconds() < 7, () -> "served again after " + outage);
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
    try (CitusLoad load = new CitusLoad(start(COORDINATOR, COORDINATOR), id -> true)) {
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
    try (CitusLoad load = new CitusLoad(start(COORDINATOR, WORKER1), id -> true)) {
      for (int kill = 0; kill < 5; kill++) {
        load.await(10_000, id -> true);
        COORDINATOR.kill();
        COORDINATOR.start();
      }
      load.await(20_000, id -> true);
      load.assertNothingIsLost(COORDINATOR);
    }
  }

  /** Returns whether an id belongs to a shard of the node, by the metadata of Citus. */
  private static LongPredicate isAt(CitusNode node) throws SQLException {
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
