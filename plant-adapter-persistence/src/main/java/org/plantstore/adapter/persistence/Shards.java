package org.plantstore.adapter.persistence;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plants of a table that Citus distributes by hash: a group commit for each shard, so that a
 * statement never crosses shards. Shards are moved and split, so they are read at the start and
 * every 30 s. With a stale map, batches are slower and a failure affects plants of other shards,
 * but answers stay correct. Safe for use by many threads.
 */
final class Shards extends GroupCommit {

  /** The property in which a start passes on whether the database has Citus. */
  static final String HAS_CITUS = "database.citus";

  /** The most plants that may wait for silent shards, so that there is room for others. */
  static final int MAX_PLANTS_OF_SILENT = 256;

  private static final Logger LOG = LoggerFactory.getLogger(Shards.class);
  private static final Duration REFRESH = Duration.ofSeconds(30);

  /** The least hash value of each shard, and the group of its node. */
  private static final String RANGES =
      """
      SELECT shardminvalue || ' ' || groupid
      FROM pg_dist_partition JOIN pg_dist_shard USING (logicalrelid)
        JOIN pg_dist_placement USING (shardid)
      WHERE logicalrelid = to_regclass('plant') AND partmethod = 'h'
      """;

  /** Returns one row for each fault of the distribution. */
  private static final String FAULTS = DatabaseStart.resource("faults-of-citus.query");

  private final JdbcOperations database;
  private final Semaphore outOfTurn;
  private final Map<String, Semaphore> turns = new ConcurrentHashMap<>();
  private final AtomicInteger plantsOfSilent = new AtomicInteger();

  /** The shards that were ever read, by their least hash values and nodes. */
  private final Map<String, Shard> all = new ConcurrentHashMap<>();

  /** The shards of now; empty where the table is not distributed. */
  private volatile NavigableMap<Integer, Shard> shards = new TreeMap<>();

  private volatile long refreshed;

  /**
   * Reads the shards.
   *
   * @param threads the number of threads of the executor
   */
  Shards(
      Table table,
      JdbcOperations database,
      Executor executor,
      int threads,
      Duration timeout,
      StoreMetrics metrics) {
    super(table, executor, PostgresPlantStore.WRITERS, timeout, metrics);
    this.database = database;
    this.outOfTurn = new Semaphore(threads / 2);
    refresh();
  }

  /** Returns whether the database has Citus. */
  static boolean areIn(Connection connection) throws SQLException {
    String metadata = "SELECT 1 WHERE to_regclass('pg_dist_partition') IS NOT NULL";
    return !DatabaseStart.rows(connection, metadata).isEmpty();
  }

  /** Returns the faults of the distribution. */
  static List<String> faults(Connection connection) throws SQLException {
    // A worker that does not answer is not waited for.
    DatabaseStart.rows(
        connection, "SELECT set_config('citus.node_connection_timeout', '2000', false)");
    return DatabaseStart.rows(connection, FAULTS);
  }

  @Override
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    Map.Entry<Integer, Shard> entry = shards.floorEntry(hash(plant.id()));
    if (entry == null) {
      return super.putIfAbsent(plant);
    }
    Shard shard = entry.getValue();
    if (shard.isSilent() && plantsOfSilent.incrementAndGet() > MAX_PLANTS_OF_SILENT) {
      return CompletableFuture.failedFuture(
          new PlantStoreUnavailableException(
              "the shard of the plant has not answered for 1 s, and enough plants wait for it"));
    }
    return shard.commit.putIfAbsent(plant);
  }

  /**
   * Returns the hash by which Citus distributes, PostgreSQL's {@code hashint8}. The halves of the
   * id are folded, so that equal numbers of all integer types have equal hashes, and then mixed by
   * the final step of Bob Jenkins' lookup3.
   */
  static int hash(long id) {
    int high = (int) (id >> 32);
    int a = 0x9e3779b9 + Integer.BYTES + 3923095;
    int b = a;
    int c = a;
    a += (int) id ^ (id >= 0 ? high : ~high);
    c = (c ^ b) - Integer.rotateLeft(b, 14);
    a = (a ^ c) - Integer.rotateLeft(c, 11);
    b = (b ^ a) - Integer.rotateLeft(a, 25);
    c = (c ^ b) - Integer.rotateLeft(b, 16);
    a = (a ^ c) - Integer.rotateLeft(c, 4);
    b = (b ^ a) - Integer.rotateLeft(a, 14);
    return (c ^ b) - Integer.rotateLeft(b, 24);
  }

  /** Reads the shards. If that fails, the known shards stay. */
  void refresh() {
    refreshed = System.nanoTime();
    try {
      NavigableMap<Integer, Shard> next = new TreeMap<>();
      for (String row : database.execute(connection -> DatabaseStart.rows(connection, RANGES))) {
        String[] leastAndNode = row.split(" ", -1);
        next.put(Integer.valueOf(leastAndNode[0]), shard(row, leastAndNode[1]));
      }
      shards = next;
    } catch (RuntimeException | Error e) {
      // Mostly because the database is down, which is reported elsewhere.
      LOG.debug("The shards cannot be read", e);
    }
  }

  private Shard shard(String row, String node) {
    Semaphore turn = turns.computeIfAbsent(node, key -> new Semaphore(1, true));
    return all.computeIfAbsent(row, key -> new Shard(this, turn, outOfTurn));
  }

  @Override
  void sweep() {
    if (System.nanoTime() - refreshed >= REFRESH.toNanos()) {
      refreshed = System.nanoTime(); // once
      executor.execute(this::refresh);
    }
    plantsOfSilent.set(
        all.values().stream()
            .filter(Shard::isSilent)
            .mapToInt(shard -> shard.commit.plants())
            .sum());
    super.sweep();
    all.values().forEach(shard -> shard.commit.sweep());
  }

  @Override
  int waitingPlants() {
    return super.waitingPlants()
        + all.values().stream().mapToInt(shard -> shard.commit.waitingPlants()).sum();
  }

  @Override
  int plants() {
    return super.plants() + all.values().stream().mapToInt(shard -> shard.commit.plants()).sum();
  }
}
