package org.plantstore.adapter.persistence.citus;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.assertAllStored;
import static org.plantstore.adapter.persistence.Calls.await;
import static org.plantstore.adapter.persistence.Calls.unavailable;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.persistence.Calls;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.PlantQueue;
import org.plantstore.domain.PlantStore;

/** A table whose metadata say that it is distributed, on a server that does the nodes' work. */
@Tag("slow")
@Timeout(60)
class DistributedTableTest {

  private static final LongPredicate IN_EAST = id -> Shards.hash(id) < 0;
  private static final LongPredicate IN_WEST = IN_EAST.negate();

  private MeterRegistry registry;
  @AutoClose private ApplicationContext instance;

  @BeforeEach
  void connect() {
    SERVER.reset();
    SERVER.migrate();
    DistributedTable.make();
    connect(Map.of());
  }

  private void connect(Map<String, Object> settings) {
    registry = new SimpleMeterRegistry();
    instance = SERVER.connect(settings, registry);
  }

  private void reconnect(Map<String, Object> settings) {
    instance.close();
    connect(settings);
  }

  @Test
  void hash_is_that_of_the_server() throws Exception {
    LongStream limits =
        LongStream.of(0, 1, -1, 1L << 31, 1L << 32, -1L << 32, Long.MIN_VALUE, Long.MAX_VALUE);
    String hashed =
        LongStream.concat(limits, new Random(1).longs(100_000))
            .mapToObj(id -> id + " " + Shards.hash(id))
            .collect(joining("\n"));

    assertEquals(
        "100008",
        SERVER.single(
            """
            SELECT count(*) FROM string_to_table('%s', E'\\n') AS line
            WHERE hashint8(split_part(line, ' ', 1)::bigint) = split_part(line, ' ', 2)::int
            """
                .formatted(hashed)));
  }

  /** If there are few connections, shards share a lane, but no statement. */
  @ParameterizedTest
  @ValueSource(ints = {36, 5})
  void statement_has_plants_of_only_one_shard_and_callers_of_a_shard_share_it(int connections)
      throws Exception {
    reconnect(Map.of("database.connections", connections)); // a start refuses the trigger
    SERVER.execute(
        """
        CREATE TABLE statement (shards bigint);
        CREATE FUNCTION count_shards() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            INSERT INTO statement SELECT count(DISTINCT hashint8(id) < 0) FROM inserted;
            RETURN NULL;
          END$$;
        CREATE TRIGGER count_shards AFTER INSERT ON plant REFERENCING NEW TABLE AS inserted
          FOR EACH STATEMENT EXECUTE FUNCTION count_shards();
        """);

    assertAllStored(putAll(LongStream.range(0, 1_000)));

    assertEquals("1", SERVER.single("SELECT max(shards) FROM statement"));
    int statements = Integer.parseInt(SERVER.single("SELECT count(*) FROM statement"));
    assertTrue(statements < 500, "statements: " + statements);
  }

  @Test
  void lanes_of_merged_shards_end() throws Exception {
    assertAllStored(putAll(LongStream.range(0, 100)));
    long writers = writers();

    SERVER.execute("DELETE FROM pg_dist_shard WHERE shardid = 102");
    shards().refresh();
    shards().refresh(); // creates may use the lane until then
    assertAllStored(putAll(LongStream.range(100, 200)));

    await(() -> writers() == writers - GroupCommit.WRITERS);
    assertEquals(200, lanePlants("serving"));
  }

  @Test
  void lane_that_is_opened_while_the_store_closes_is_closed_too() throws Exception {
    PlantQueue queue = instance.getBean(PlantQueue.class);
    queue.close();

    assertEquals("the store is closed", unavailable(queue.putIfAbsent(Calls.fern(1))));
    await(() -> writers() == 0);
  }

  private Shards shards() {
    return ((ShardedQueue) instance.getBean(PlantQueue.class)).shards;
  }

  private static long writers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("plant-writer"))
        .count();
  }

  @Test
  void shards_of_different_nodes_share_no_lane() {
    SERVER.execute(
        "UPDATE pg_dist_shard SET shardminvalue = '1000' WHERE shardid = 102",
        "INSERT INTO pg_dist_shard VALUES ('plant', 103, '0', '9'), ('plant', 104, '10', '999')",
        "INSERT INTO pg_dist_placement VALUES (103, 2), (104, 2)");
    reconnect(Map.of("database.connections", 6)); // two lanes
    Shards shards = shards();

    long east = ids(0, IN_EAST, 1).findFirst().orElseThrow();
    ids(0, IN_WEST, 1_000)
        .forEach(west -> assertNotEquals(shards.of(east).lane(), shards.of(west).lane()));
  }

  @Test
  void dead_node_costs_only_its_own_plants_and_serves_when_it_is_back() throws Exception {
    assertAllStored(putAll(ids(0, IN_EAST, 20)));
    List<String> sessions = sessions();
    DistributedTable.whenEastIsAsked(
        "RAISE SQLSTATE '08006' USING MESSAGE = 'connection to east refused'");

    List<CompletableFuture<Void>> refused = putAll(ids(1_000, IN_EAST, 20));
    assertAllStored(putAll(ids(1_000, IN_WEST, 200)));
    assertRefused(refused, "connection to east refused (SQLSTATE 08006)");
    assertRefusedWithin(Duration.ofSeconds(1));
    assertTrue(lanePlants("failing") >= 99, registry::toString);
    assertTrue(sessions().containsAll(sessions), "none is closed because of another server");
    assertReady();

    DistributedTable.whenEastIsAsked("NULL");
    assertServesWithinTwoSeconds();
  }

  @Test
  void silent_node_costs_only_its_own_plants_and_serves_when_it_is_back() throws Exception {
    reconnect(Map.of("database.timeout.seconds", 2));
    DistributedTable.whenEastIsAsked("PERFORM pg_advisory_xact_lock(1)");
    try (Connection silence = SERVER.connection()) {
      silence.createStatement().execute("SELECT pg_advisory_lock(1)");
      // A lock on another server has no time-out here.
      SERVER.execute("ALTER FUNCTION ask_east() SET lock_timeout = 0");

      List<CompletableFuture<Void>> silent = putAll(ids(0, IN_EAST, 20));
      assertAllStored(putAll(ids(0, IN_WEST, 200)));
      assertRefused(silent, "");
      assertRefusedWithin(Duration.ofMillis(1_500));
      assertAllStored(putAll(ids(2_000, IN_WEST, 200)));
      assertReady();
    }
    assertServesWithinTwoSeconds();
  }

  private static void assertRefused(List<CompletableFuture<Void>> calls, String reason) {
    for (CompletableFuture<Void> call : calls) {
      String message = unavailable(call);
      assertTrue(message.contains("the database node east:1"), message);
      assertTrue(message.contains(reason), message);
    }
  }

  /** All but the trial request fail fast. */
  private void assertRefusedWithin(Duration time) {
    List<CompletableFuture<Void>> refused =
        assertTimeout(
            time,
            () -> {
              List<CompletableFuture<Void>> calls = putAll(ids(2_000, IN_EAST, 100));
              calls.forEach(Calls::unavailable);
              return calls;
            });
    // Callers may add suppressed exceptions to theirs.
    assertEquals(100, refused.stream().map(Calls::failure).distinct().count());
  }

  private void assertServesWithinTwoSeconds() throws Exception {
    assertTimeout(
        Duration.ofSeconds(2),
        () ->
            await(() -> {
              var call = putAll(ids(3_000, IN_EAST, 1)).get(0);
              return call.handle((stored, failure) -> failure == null).get();
            }));
    assertAllStored(putAll(ids(3_000, IN_EAST, 100)));
  }

  /** As after a shard was split or moved: metadata affect only speed. */
  @Test
  void metadata_that_change_or_are_wrong_while_plants_are_created_change_no_answer()
      throws Exception {
    String[] metadata = {
      "DELETE FROM pg_dist_shard WHERE shardid = 102",
      "UPDATE pg_dist_shard SET shardminvalue = '1000000000'",
      "INSERT INTO pg_dist_shard VALUES ('plant', 103, 'nonsense', null)",
      "INSERT INTO pg_dist_placement SELECT shardid, 1 FROM pg_dist_shard",
      "TRUNCATE pg_dist_shard",
      "DROP TABLE pg_dist_partition CASCADE",
    };
    Shards shards = shards();
    long id = 0;
    for (String change : metadata) {
      List<CompletableFuture<Void>> calls = putAll(LongStream.range(id, id + 200));
      SERVER.execute(change);
      shards.refresh();
      assertAllStored(calls);
      assertAllStored(putAll(LongStream.range(id, id + 200)));
      id += 200;
    }
    assertEquals("" + id, SERVER.single("SELECT count(*) FROM plant"));
  }

  private void assertReady() {
    assertEquals(1, registry.get("plant.store.database.up").gauge().value());
  }

  private static List<String> sessions() throws SQLException {
    String sessions =
        SERVER.single(
            "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity"
                + " WHERE application_name = 'plant-store'");
    return List.of(sessions.split(" ", -1));
  }

  private double lanePlants(String state) {
    return registry.get("plant.store.lane.plants").tag("state", state).functionCounter().count();
  }

  private List<CompletableFuture<Void>> putAll(LongStream ids) {
    return Calls.putAll(instance.getBean(PlantStore.class), ids);
  }

  private static LongStream ids(long first, LongPredicate shard, int number) {
    return LongStream.iterate(first, id -> id + 1).filter(shard).limit(number);
  }
}
