package org.plantstore.adapter.persistence;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.assertAllStored;
import static org.plantstore.adapter.persistence.Calls.await;
import static org.plantstore.adapter.persistence.Calls.unavailable;
import static org.plantstore.adapter.persistence.SharedServer.SERVER;

import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.util.ArrayList;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.domain.PlantStore;

/**
 * A table that is distributed according to simulated metadata, on a single server that simulates
 * the nodes. The node east:1 stores the ids with a negative hash, and west:2 stores the others.
 */
@Tag("slow")
@Timeout(180)
class ShardsTest {

  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");
  private static final LongPredicate IN_EAST = id -> Shards.hash(id) < 0;
  private static final LongPredicate IN_WEST = IN_EAST.negate();

  @AutoClose private ApplicationContext instance;

  @BeforeEach
  void connect() {
    SERVER.reset();
    SERVER.migrate();
    SERVER.execute(
        """
        CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text);
        CREATE TABLE pg_dist_shard (logicalrelid regclass, shardid bigint, shardminvalue text);
        CREATE TABLE pg_dist_placement (shardid bigint, groupid int);
        CREATE TABLE pg_dist_node (nodeid int, groupid int, nodename text, nodeport int);
        CREATE TABLE settings_of_workers (nodeid int, success bool, result text);
        CREATE TABLE pg_dist_local_group (groupid int);
        INSERT INTO pg_dist_local_group VALUES (0);
        CREATE FUNCTION column_to_column_name(regclass, text) RETURNS text
          LANGUAGE SQL AS 'SELECT $2';
        CREATE FUNCTION run_command_on_all_nodes(text) RETURNS SETOF settings_of_workers
          LANGUAGE SQL AS 'SELECT * FROM settings_of_workers';
        INSERT INTO pg_dist_partition VALUES ('plant', 'h', 'id');
        INSERT INTO pg_dist_shard VALUES ('plant', 101, '-2147483648'), ('plant', 102, '0');
        INSERT INTO pg_dist_placement VALUES (101, 1), (102, 2);
        INSERT INTO pg_dist_node VALUES (0, 0, 'home', 0), (1, 1, 'east', 1), (2, 2, 'west', 2);
        INSERT INTO settings_of_workers VALUES (0, true, 'off'), (1, true, 'on');
        """);
    instance = SERVER.connect(Map.of());
  }

  @Test
  void hash_equals_that_of_the_server() throws Exception {
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

  @Test
  void statement_contains_plants_of_a_single_shard_and_of_several_callers() throws Exception {
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

    List<CompletableFuture<Void>> calls;
    try (Connection holder = SERVER.connection()) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("LOCK TABLE plant");
      calls = putAll(LongStream.range(0, 400)); // even a silent node may accept its half
      holder.rollback(); // only now can any plant be stored
    }
    assertAllStored(calls);

    assertEquals("1", SERVER.single("SELECT max(shards) FROM statement"));
    int statements = Integer.parseInt(SERVER.single("SELECT count(*) FROM statement"));
    assertTrue(statements < 200, "statements: " + statements);
  }

  /** The instance {@code impatient} shows what callers receive at the deadline. */
  @Test
  void dead_node_affects_only_its_own_plants_and_recovers() throws Exception {
    assertAllStored(putAll(ids(0, IN_EAST, 20)));
    List<CompletableFuture<Void>> refused;
    try (ApplicationContext impatient = connectImpatient()) {
      beforeInsertInEast("RAISE SQLSTATE '08006' USING MESSAGE = 'connection to east refused'");

      refused = putAll(ids(1_000, IN_EAST, 20));
      assertAllStored(putAll(ids(1_000, IN_WEST, 200)));
      refused.forEach(call -> assertFalse(call.isDone()));
      await(() ->
          putAll(impatient, ids(3_000, IN_EAST, 20)).stream()
              .map(Calls::unavailable)
              .allMatch("connection to east refused (SQLSTATE 08006)"::equals));
    }

    beforeInsertInEast("NULL");
    assertAllStored(refused);
  }

  /** The plants and connections of a silent node leave enough capacity for other nodes. */
  @Test
  void silent_node_affects_only_its_own_plants_and_recovers() throws Exception {
    List<CompletableFuture<Void>> silent = new ArrayList<>();
    try (ApplicationContext impatient = connectImpatient();
        Connection silence = SERVER.connection()) {
      beforeInsertInEast("PERFORM pg_advisory_xact_lock(1)");
      silence.createStatement().execute("SELECT pg_advisory_lock(1)");
      // A lock on a worker is not subject to the timeout of the coordinator's session.
      SERVER.execute("ALTER FUNCTION ask_east() SET lock_timeout = 0");

      silent.addAll(putAll(ids(0, IN_EAST, 20)));
      assertAllStored(putAll(ids(0, IN_WEST, 200)));
      silent.addAll(putAll(ids(2_000, IN_EAST, 1_000)));
      assertEquals(
          "the server is not responding, and too many plants are waiting",
          unavailable(silent.get(silent.size() - 1)));
      assertAllStored(putAll(ids(2_000, IN_WEST, 200)));
      silent.subList(0, 20).forEach(call -> assertFalse(call.isDone()));
      putAll(impatient, ids(4_000, IN_EAST, 20)).forEach(Calls::unavailable);
    }
    assertAllStored(silent.subList(0, 20));
    assertAllStored(putAll(ids(3_000, IN_EAST, 1)));
  }

  /** Connects an instance whose calls fail after a second. */
  private static ApplicationContext connectImpatient() {
    return SERVER.connect(Map.of("database.timeout.seconds", 1));
  }

  /** Moving, merging, or splitting shards changes the metadata, which affects only the speed. */
  @Test
  void changed_or_wrong_metadata_do_not_change_the_responses() throws Exception {
    String[] metadata = {
      "DELETE FROM pg_dist_shard WHERE shardid = 102",
      "UPDATE pg_dist_shard SET shardminvalue = '1000000000'",
      "INSERT INTO pg_dist_shard VALUES ('plant', 103, 'nonsense')",
      "TRUNCATE pg_dist_shard",
      "DROP TABLE pg_dist_partition CASCADE",
    };
    Shards shards = (Shards) instance.getBean(PostgresPlantStore.class).queue;
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE pg_dist_partition SET partmethod = 'n'  | the table plant must be distributed by the hash of id, with one placement for each shard, or not be managed by Citus; stop the instances that connect to workers, and run SELECT undistribute_table('plant'), SET citus.shard_replication_factor = 1, and SELECT create_distributed_table('plant', 'id')
          UPDATE pg_dist_partition SET partkey = 'name'  | the table plant must be distributed by the hash of id, with one placement for each shard, or not be managed by Citus; stop the instances that connect to workers, and run SELECT undistribute_table('plant'), SET citus.shard_replication_factor = 1, and SELECT create_distributed_table('plant', 'id')
          INSERT INTO pg_dist_placement VALUES (101, 2)  | the table plant must be distributed by the hash of id, with one placement for each shard, or not be managed by Citus; stop the instances that connect to workers, and run SELECT undistribute_table('plant'), SET citus.shard_replication_factor = 1, and SELECT create_distributed_table('plant', 'id')
          ALTER TABLE plant DROP CONSTRAINT plant_pkey   | the table plant must have a unique index on id only; run CREATE UNIQUE INDEX ON plant (id); if Citus distributes the table, first stop the instances that connect to workers, and run SELECT undistribute_table('plant')
          UPDATE settings_of_workers SET result = 'off'  | east:1 has synchronous_commit = off and would lose plants in a crash; run ALTER ROLE postgres SET synchronous_commit = on
          UPDATE settings_of_workers SET success = false | ''
          """)
  void distribution_that_may_lose_plants_or_cause_wrong_responses_is_refused(
      String change, String reason) {
    SERVER.execute(change);

    assertEquals(reason.isEmpty() ? List.of() : List.of(reason), SERVER.check(UNMIGRATED));
  }

  /** Citus may be installed long before the table is distributed. */
  @ParameterizedTest
  @ValueSource(strings = {"TRUNCATE pg_dist_partition", "SELECT 'the table is distributed'"})
  void missing_privilege_for_a_column_is_refused_although_citus_is_installed(String state) {
    SERVER.execute(
        state,
        "CREATE ROLE gardener LOGIN",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO gardener",
        "GRANT INSERT (id) ON plant TO gardener");

    assertEquals(
        List.of(
            "the table plant cannot be used: permission denied for table plant (SQLSTATE 42501);"
                + " grant the role the missing privilege"),
        SERVER.check(Map.of("database.migrate", "off", "database.username", "gardener")));
  }

  /** Creates a trigger that runs an action before each insert of a row on the node east. */
  private static void beforeInsertInEast(String action) {
    SERVER.execute(
        """
        CREATE OR REPLACE FUNCTION ask_east() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            IF hashint8(NEW.id) < 0 THEN
              %s;
            END IF;
            RETURN NEW;
          END$$;
        CREATE OR REPLACE TRIGGER ask_east BEFORE INSERT ON plant
          FOR EACH ROW EXECUTE FUNCTION ask_east();
        """
            .formatted(action));
  }

  private List<CompletableFuture<Void>> putAll(LongStream ids) {
    return putAll(instance, ids);
  }

  private static List<CompletableFuture<Void>> putAll(ApplicationContext context, LongStream ids) {
    return Calls.putAll(context.getBean(PlantStore.class), ids);
  }

  private static LongStream ids(long first, LongPredicate shard, int number) {
    return LongStream.iterate(first, id -> id + 1).filter(shard).limit(number);
  }
}
