package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.ApplicationContext;
import io.micronaut.core.async.subscriber.CompletionAwareSubscriber;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.reactivestreams.Subscription;

/**
 * A table whose metadata say that it is distributed, on a server that does what the nodes would.
 */
@Timeout(60)
class DistributedTableTest {

  private static final DatabaseServer SERVER = DatabaseServer.shared();
  private static final LongPredicate IN_EAST = id -> Shards.hash(id) < 0;
  private static final String SESSIONS =
      "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity"
          + " WHERE application_name = 'plant-store'";

  private static final String WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted";
  private static final Duration PAUSE = Duration.ofMillis(10);

  private final ExecutorService callers = Executors.newCachedThreadPool();
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private DistributedTable table;
  private ApplicationContext instance;
  private PlantStore store;

  @BeforeEach
  void connect() {
    SERVER.reset();
    SERVER.connect().close(); // makes the table
    table = new DistributedTable(SERVER);
    connect(Map.of());
  }

  private void connect(Map<String, Object> settings) {
    instance =
        ApplicationContext.builder()
            .properties(SERVER.settings())
            .properties(settings)
            .singletons(registry)
            .start();
    store = instance.getBean(PlantStore.class);
  }

  private void reconnect(Map<String, Object> settings) {
    instance.close();
    connect(settings);
  }

  @AfterEach
  void disconnect() {
    callers.shutdownNow();
    instance.close();
    DistributedTable.drop(SERVER);
  }

  @Test
  void hash_is_that_of_the_server() throws Exception {
    long[] ids =
        LongStream.concat(
                LongStream.of(
                    0, 1, -1, 1L << 31, 1L << 32, -1L << 32, Long.MIN_VALUE, Long.MAX_VALUE),
                new Random(1).longs(100_000))
            .toArray();
    try (Connection connection = SERVER.connection();
        var query =
            connection.prepareStatement("SELECT id, hashint8(id) FROM unnest(?::bigint[]) AS id")) {
      query.setObject(1, ids);
      int compared = 0;
      try (var row = query.executeQuery()) {
        for (; row.next(); compared++) {
          assertEquals(row.getInt(2), Shards.hash(row.getLong(1)), "hash of " + row.getLong(1));
        }
      }
      assertEquals(ids.length, compared);
    }
  }

  /** Shards share a lane if there are few connections, but no statement. */
  @ParameterizedTest
  @ValueSource(ints = {36, 5})
  void statement_has_plants_of_one_shard_alone_and_callers_of_a_shard_share_it(int connections)
      throws Exception {
    countShardsOfStatements();
    reconnect(Map.of("database.connections", connections));

    assertAllStored(putAll(LongStream.range(0, 1_000).toArray()));

    assertEquals("1", SERVER.single("SELECT max(shards) FROM statement"));
    int statements = Integer.parseInt(SERVER.single("SELECT count(*) FROM statement"));
    assertTrue(statements < 500, "statements: " + statements);
  }

  @Test
  void lanes_of_merged_shards_end() throws Exception {
    assertAllStored(putAll(LongStream.range(0, 100).toArray()));
    long writers = writers();

    SERVER.execute("DELETE FROM pg_dist_shard WHERE shardid = 102");
    instance.getBean(Shards.class).read();
    instance.getBean(Shards.class).read(); // creates may use the lane until then
    assertAllStored(putAll(LongStream.range(100, 200).toArray()));

    while (writers() != writers - GroupCommit.WRITERS) {
      LockSupport.parkNanos(PAUSE.toNanos());
    }
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
    Shards shards = instance.getBean(Shards.class);

    long east = ids(0, IN_EAST, 1)[0];
    for (long west : ids(0, IN_EAST.negate(), 1_000)) {
      assertNotEquals(shards.of(east).lane(), shards.of(west).lane());
    }
  }

  private static void countShardsOfStatements() {
    SERVER.execute(
        """
        DROP TABLE IF EXISTS statement;
        CREATE TABLE statement (shards bigint);
        CREATE OR REPLACE FUNCTION count_shards() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            INSERT INTO statement SELECT count(DISTINCT hashint8(id) < 0) FROM inserted;
            RETURN NULL;
          END$$;
        CREATE TRIGGER count_shards AFTER INSERT ON plant REFERENCING NEW TABLE AS inserted
          FOR EACH STATEMENT EXECUTE FUNCTION count_shards();
        """);
  }

  @Test
  void node_that_is_dead_costs_its_own_plants_alone_and_serves_when_it_is_back() throws Exception {
    assertAllStored(putAll(ids(0, IN_EAST, 20)));
    List<String> sessions = sessions();
    table.whenEastIsAsked("RAISE SQLSTATE '08006' USING MESSAGE = 'connection to east refused'");

    List<Future<NewPlant>> refused = putAll(ids(1_000, IN_EAST, 20));
    assertAllStored(putAll(ids(1_000, IN_EAST.negate(), 200)));
    for (Future<NewPlant> call : refused) {
      assertTrue(unavailable(call).contains("connection to east refused (SQLSTATE 08006)"));
      assertTrue(unavailable(call).contains("the database node east:1"), unavailable(call));
    }

    // Now others are refused at once, but for one in half a second that tries.
    Instant began = Instant.now();
    for (Future<NewPlant> call : putAll(ids(2_000, IN_EAST, 100))) {
      unavailable(call);
    }
    assertTrue(Duration.between(began, Instant.now()).toMillis() < 1_000);
    assertTrue(lanePlants("failing") >= 99, registry::toString);
    assertTrue(sessions().containsAll(sessions), "none is closed because of another server");
    assertReady();

    table.whenEastIsAsked("NULL");
    assertServesWithinTwoSeconds(ids(3_000, IN_EAST, 100));
  }

  @Test
  void node_that_is_silent_costs_its_own_plants_alone_and_serves_when_it_is_back()
      throws Exception {
    reconnect(Map.of("database.timeout.seconds", 2));
    table.whenEastIsAsked("PERFORM pg_advisory_xact_lock(1)");
    try (Connection silence = SERVER.connection()) {
      silence.createStatement().execute("SELECT pg_advisory_lock(1)");
      // A lock on another server has no time-out here.
      SERVER.execute("ALTER FUNCTION ask_east() SET lock_timeout = 0");

      List<Future<NewPlant>> silent = putAll(ids(0, IN_EAST, 20));
      assertAllStored(putAll(ids(0, IN_EAST.negate(), 200)));
      for (Future<NewPlant> call : silent) {
        assertTrue(unavailable(call).contains("the database node east:1"), unavailable(call));
      }
      Instant soon = Instant.now().plusMillis(1_500);
      List<Future<NewPlant>> refused = putAll(ids(2_000, IN_EAST, 100));
      while (!refused.stream().allMatch(Future::isDone)) {
        assertTrue(Instant.now().isBefore(soon), "plants wait for a node that is silent");
        LockSupport.parkNanos(PAUSE.toNanos());
      }
      assertAllStored(putAll(ids(2_000, IN_EAST.negate(), 200)));
      assertReady();
    }
    assertServesWithinTwoSeconds(ids(3_000, IN_EAST, 100));
  }

  @Test
  void bystanders_of_a_locked_id_are_served() throws Exception {
    long locked = ids(0, IN_EAST, 1)[0];
    try (Connection holder = SERVER.connection()) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("INSERT INTO plant VALUES (" + locked + ", 'undecided')");
      Future<NewPlant> held = putAll(locked).get(0);

      while (!SERVER.single(WAITING).equals("1")) {
        LockSupport.parkNanos(PAUSE.toNanos());
      }

      assertAllStored(putAll(LongStream.range(1_000, 1_040).toArray()));

      assertFalse(held.isDone());
      assertTrue(unavailable(held).contains("(SQLSTATE 55P03)"), unavailable(held));
    }
  }

  /** As after a shard was split or moved: speed alone hangs on the metadata. */
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
    Shards shards = instance.getBean(Shards.class);
    long id = 0;
    for (String change : metadata) {
      List<Future<NewPlant>> calls = putAll(LongStream.range(id, id + 200).toArray());
      SERVER.execute(change);
      shards.read();
      assertAllStored(calls);
      assertAllStored(putAll(LongStream.range(id, id + 200).toArray()));
      id += 200;
    }
    assertEquals("" + id, SERVER.single("SELECT count(*) FROM plant"));
  }

  private void assertServesWithinTwoSeconds(long... ids) throws Exception {
    Instant deadline = Instant.now().plusSeconds(2);
    while (unavailability(ids[0]) != null) {
      assertTrue(Instant.now().isBefore(deadline), () -> unavailability(ids[0]));
    }
    assertAllStored(putAll(ids));
  }

  /** Returns why the plant cannot be stored now, or null if it is. */
  private @Nullable String unavailability(long id) {
    try {
      store.putIfAbsent(fern(id));
      return null;
    } catch (PlantStoreUnavailableException e) {
      return e.getMessage();
    }
  }

  private void assertReady() {
    List<String> health = new ArrayList<>();
    for (HealthIndicator indicator : instance.getBeansOfType(HealthIndicator.class)) {
      indicator
          .getResult()
          .subscribe(
              new CompletionAwareSubscriber<>() {
                @Override
                protected void doOnSubscribe(Subscription subscription) {
                  subscription.request(1);
                }

                @Override
                protected void doOnNext(HealthResult result) {
                  health.add(result.getName() + " " + result.getStatus());
                }

                @Override
                protected void doOnError(Throwable failure) {}

                @Override
                protected void doOnComplete() {}
              });
    }
    assertTrue(health.contains("database UP"), health::toString);
  }

  private static List<String> sessions() throws SQLException {
    return List.of(SERVER.single(SESSIONS).split(" ", -1));
  }

  private double lanePlants(String state) {
    return registry.get("plant.store.lane.plants").tag("state", state).functionCounter().count();
  }

  private List<Future<NewPlant>> putAll(long... ids) {
    List<Future<NewPlant>> calls = new ArrayList<>();
    for (long id : ids) {
      calls.add(callers.submit(() -> store.putIfAbsent(fern(id))));
    }
    return calls;
  }

  private static void assertAllStored(List<Future<NewPlant>> calls) throws Exception {
    for (Future<NewPlant> call : calls) {
      assertEquals("fern", call.get().name());
    }
  }

  private static String unavailable(Future<NewPlant> call) {
    Throwable failure = assertThrows(ExecutionException.class, call::get).getCause();
    return String.valueOf(
        assertInstanceOf(PlantStoreUnavailableException.class, failure).getMessage());
  }

  private static long[] ids(long first, LongPredicate shard, int number) {
    return LongStream.iterate(first, id -> id + 1).filter(shard).limit(number).toArray();
  }

  private static NewPlant fern(long id) {
    return new NewPlant(id, "fern", null);
  }
}
