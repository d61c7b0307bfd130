package org.plantstore.adapter.persistence.citus;

import static java.util.stream.Collectors.toUnmodifiableSet;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps ids to the shards of a table that Citus distributes by hash: each shard has a range of hash
 * values. Shards are moved and split, so they are read at the start and every 30 s. With a stale
 * map, batches are slower and a failure affects plants of other shards, but answers stay correct.
 * Safe for use by many threads.
 */
final class Shards {

  private static final Logger LOG = LoggerFactory.getLogger(Shards.class);

  private static final String RANGES =
      """
      SELECT shardminvalue::integer, nodename || ':' || nodeport
      FROM pg_dist_partition JOIN pg_dist_shard USING (logicalrelid)
        JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
      WHERE logicalrelid = to_regclass('plant') AND partmethod = 'h' AND noderole = 'primary'
      ORDER BY 2, 1
      """;

  /** Identifies a group commit to a node, which is a host and a port. */
  record LaneId(String node, int number) {}

  /** A part of the table. Only plants of one shard share a statement. */
  record Shard(int number, LaneId lane) {

    /** The shard of a table that is not distributed. */
    static final Shard WHOLE = new Shard(0, new LaneId("", 0));
  }

  private final JdbcOperations database;
  private final ConnectionPool pool;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "plant-shards");
        thread.setDaemon(true);
        return thread;
      });

  private volatile Set<LaneId> lanes = Set.of(Shard.WHOLE.lane());

  /** The shards by their least hash values; empty where the table is not distributed. */
  private volatile NavigableMap<Integer, Shard> shards = new TreeMap<>();

  /** Reads the shards, and starts to follow them. */
  @SuppressWarnings("FutureReturnValueIgnored") // refresh() throws nothing
  Shards(JdbcOperations database, ConnectionPool pool) {
    this.database = database;
    this.pool = pool;
    refresh();
    // Soon, because the first read may have failed.
    executor.scheduleWithFixedDelay(this::refresh, 1, 30, TimeUnit.SECONDS);
  }

  /** Returns the shard that keeps the id. */
  Shard of(long id) {
    NavigableMap<Integer, Shard> known = shards;
    if (known.isEmpty()) {
      return Shard.WHOLE;
    }
    Map.Entry<Integer, Shard> entry = known.floorEntry(hash(id));
    return entry == null ? known.values().iterator().next() : entry.getValue();
  }

  /** Returns the lanes of the current shards, and of the shards before the last read. */
  Set<LaneId> lanes() {
    return lanes;
  }

  /** Reads the shards. If that fails, the known shards stay. */
  synchronized void refresh() {
    try {
      update(shards(database.execute(Shards::nodes)));
    } catch (RuntimeException | Error e) { // an exception would end the schedule
      // Mostly because the database is down, which is reported elsewhere.
      LOG.debug("The shards cannot be read", e);
    }
  }

  /** Returns the node of each range by its least hash value. */
  private static Map<Integer, String> nodes(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet range = statement.executeQuery(RANGES)) {
      Map<Integer, String> nodes = new LinkedHashMap<>();
      while (range.next()) {
        nodes.put(range.getInt(1), range.getString(2));
      }
      return nodes;
    }
  }

  /** Gives each shard a lane. If the connections are too few, shards of a node share lanes. */
  private NavigableMap<Integer, Shard> shards(Map<Integer, String> nodes) {
    int maximum = pool.maximum() - LaneSlots.SHARED;
    int maxLanesOfNode =
        nodes.size() <= maximum
            ? nodes.size() // each shard has a lane of its own
            : Math.max(1, maximum / Set.copyOf(nodes.values()).size());
    NavigableMap<Integer, Shard> shards = new TreeMap<>();
    nodes.forEach((least, node) -> { // in the order of nodes, so that each uses all its lanes
      int number = shards.size();
      shards.put(least, new Shard(number, new LaneId(node, number % maxLanesOfNode)));
    });
    return shards;
  }

  private void update(NavigableMap<Integer, Shard> next) {
    Set<LaneId> used = lanesOf(next);
    // Also the lanes before this read: a create may have looked up its shard before.
    lanes = Stream.of(lanesOf(shards), used).flatMap(Set::stream).collect(toUnmodifiableSet());
    if (!next.equals(shards)) {
      shards = next;
      LOG.info("The table plant has {} shards, written in {} lanes", next.size(), used.size());
      pool.resize(used.size() + LaneSlots.SHARED);
    }
  }

  private static Set<LaneId> lanesOf(Map<Integer, Shard> shards) {
    return shards.isEmpty()
        ? Set.of(Shard.WHOLE.lane())
        : shards.values().stream().map(Shard::lane).collect(toUnmodifiableSet());
  }

  void close() {
    executor.shutdownNow();
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
}
