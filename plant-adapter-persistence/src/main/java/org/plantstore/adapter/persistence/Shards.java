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
import java.util.function.ToIntFunction;
import org.plantstore.domain.NewPlant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues for a table that Citus may distribute by hash. Each node has its own queue of plants,
 * and each batch contains plants of only one shard. Because shards can be moved and split, their
 * placements are read at startup, and every 30 s while plants are being stored. If the known
 * placements are out of date, batches are slower, and the failure of one node also affects plants
 * on other nodes, but results remain correct. This class is thread-safe.
 */
final class Shards implements PlantQueue {

  /** The property in which startup records whether the database contains Citus. */
  static final String HAS_CITUS = "database.citus";

  private static final Logger LOG = LoggerFactory.getLogger(Shards.class);
  private static final Duration REFRESH = Duration.ofSeconds(30);

  /** A query that returns the lowest hash value of each shard and the group ID of its node. */
  private static final String RANGES =
      """
      SELECT shardminvalue || ' ' || groupid
      FROM pg_dist_partition JOIN pg_dist_shard USING (logicalrelid)
        JOIN pg_dist_placement USING (shardid)
      WHERE logicalrelid = to_regclass('plant') AND partmethod = 'h'
      """;

  /** A query that returns one row for each problem with the table's distribution. */
  private static final String FAULTS = DatabaseStart.resource("faults-of-citus.query");

  /** The queue for the whole table, which is used while the table is not distributed. */
  private final GroupCommit whole;

  private final JdbcOperations database;
  private final Executor executor;

  /**
   * The number of threads to divide among the nodes. Each node can use at least one thread, even if
   * the total then exceeds this number.
   */
  private final int threads;

  /** Every node that has held a shard at any time since startup, keyed by group ID. */
  private final Map<String, Node> nodes = new ConcurrentHashMap<>();

  /** Maps each shard's lowest hash value to a node, or is empty if the table is not distributed. */
  private volatile NavigableMap<Integer, Node> shards = new TreeMap<>();

  private volatile int threadsPerNode = 1;
  private volatile long refreshed;

  Shards(GroupCommit whole, JdbcOperations database, Executor executor, int threads) {
    this.whole = whole;
    this.database = database;
    this.executor = executor;
    this.threads = threads;
    refresh();
  }

  static boolean isCitusIn(Connection connection) throws SQLException {
    String metadata = "SELECT 1 WHERE to_regclass('pg_dist_partition') IS NOT NULL";
    return !DatabaseStart.rows(connection, metadata).isEmpty();
  }

  /** Returns the problems with the table's distribution, such as a wrong distribution column. */
  static List<String> faults(Connection connection) throws SQLException {
    if (!isCitusIn(connection)) {
      return List.of();
    }
    // Limits the time for connecting to a worker that is not responding.
    DatabaseStart.rows(
        connection, "SELECT set_config('citus.node_connection_timeout', '2000', false)");
    return DatabaseStart.rows(connection, FAULTS);
  }

  @Override
  public CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    Map.Entry<Integer, Node> shard = shards.floorEntry(hash(plant.id()));
    return shard == null
        ? whole.putIfAbsent(plant)
        : shard.getValue().queue.putIfAbsent(plant, shard.getKey());
  }

  /**
   * Returns the hash value by which Citus distributes rows. The algorithm is PostgreSQL's {@code
   * hashint8}: it combines the two halves of the id so that equal numbers of any integer type have
   * equal hash values, and then applies the final mixing step of Bob Jenkins's lookup3.
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

  /** Reads the shard placements. If reading fails, continues to use the known placements. */
  void refresh() {
    refreshed = System.nanoTime();
    try {
      NavigableMap<Integer, Node> next = new TreeMap<>();
      for (String row : database.execute(connection -> DatabaseStart.rows(connection, RANGES))) {
        String[] lowestAndGroup = row.split(" ", -1);
        Node node =
            nodes.computeIfAbsent(
                lowestAndGroup[1], group -> new Node(whole, () -> threadsPerNode));
        next.put(Integer.parseInt(lowestAndGroup[0]), node);
      }
      long inUse = next.values().stream().distinct().count();
      threadsPerNode = (int) Math.max(1, threads / Math.max(1, inUse));
      shards = next;
    } catch (RuntimeException | Error e) {
      // The usual cause is an unavailable database, which the readiness probe reports.
      LOG.debug("The shard placements cannot be read", e);
    }
  }

  @Override
  public void sweep() {
    if (System.nanoTime() - refreshed >= REFRESH.toNanos()) {
      refreshed = System.nanoTime(); // so that the next sweep does not refresh again
      executor.execute(this::refresh);
    }
    whole.sweep();
    nodes.values().forEach(Node::sweep);
  }

  @Override
  public int waitingPlants() {
    return sum(GroupCommit::waitingPlants);
  }

  @Override
  public int plants() {
    return sum(GroupCommit::plants);
  }

  private int sum(ToIntFunction<GroupCommit> number) {
    return number.applyAsInt(whole)
        + nodes.values().stream().mapToInt(node -> number.applyAsInt(node.queue)).sum();
  }
}
