package org.plantstore.adapter.persistence;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.Shard;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps ids to the shards of a table that Citus distributes by hash: each shard has a range of hash
 * values. Read at the start and every 30 s, because shards are moved and split. Affects speed, and
 * how far failures reach, but no answer. Safe for use by many threads.
 */
@Singleton
final class Shards implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Shards.class);
  private static final Duration PERIOD = Duration.ofSeconds(30);

  private static final String IS_CITUS = "SELECT to_regclass('pg_dist_partition') IS NOT NULL";

  private static final String RANGES =
      """
      SELECT shardminvalue::integer, nodename || ':' || nodeport
      FROM pg_dist_partition JOIN pg_dist_shard USING (logicalrelid)
        JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
      WHERE logicalrelid = to_regclass('plant') AND partmethod = 'h' AND noderole = 'primary'
      ORDER BY 2, 1
      """;

  /** A range of hash values, which reaches to the next one. */
  private record Range(int least, String node) {}

  private final JdbcOperations database;
  private final ConnectionPool pool;
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "plant-shards");
        thread.setDaemon(true);
        return thread;
      });

  /** The number of lanes, 1 where the table is whole. */
  private volatile int lanes = 1;

  /** By the least hash value of each; empty where the table is whole. */
  private volatile NavigableMap<Integer, Shard> shards = new TreeMap<>();

  /** Reads the shards, and starts to follow them if the database has Citus. */
  @SuppressWarnings("FutureReturnValueIgnored") // read() throws nothing
  Shards(JdbcOperations database, ConnectionPool pool) {
    this.database = database;
    this.pool = pool;
    if (database.execute(Shards::isCitus)) {
      read();
      executor.scheduleWithFixedDelay(
          this::read, PERIOD.toMillis(), PERIOD.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private static boolean isCitus(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(IS_CITUS)) {
      return row.next() && row.getBoolean(1);
    }
  }

  /** Returns where the id is kept. */
  Shard of(long id) {
    NavigableMap<Integer, Shard> known = shards;
    Map.Entry<Integer, Shard> entry = known.isEmpty() ? null : known.floorEntry(hash(id));
    return entry == null ? Shard.WHOLE : entry.getValue();
  }

  /** Returns whether the table is distributed, as far as is known. */
  boolean isDistributed() {
    return !shards.isEmpty();
  }

  /** Returns the number of lanes; the lane of each shard has a lower number. */
  int lanes() {
    return lanes;
  }

  /** Reads the shards; if that fails, those that are known stay. */
  void read() {
    try {
      List<Range> ranges = database.execute(Shards::ranges);
      NavigableMap<Integer, Shard> known = new TreeMap<>();
      int lanes = Math.max(1, Math.min(ranges.size(), pool.maximum() - GroupCommit.SPARES));
      List<String> nodes = ranges.stream().map(Range::node).distinct().toList();
      for (Range range : ranges) {
        int number = known.size();
        int lane =
            lanes == ranges.size()
                ? number
                : sharedLane(number, nodes.indexOf(range.node), nodes.size(), lanes);
        known.put(range.least, new Shard(number, lane, range.node));
      }
      if (!known.equals(shards)) {
        LOG.info(
            "The table plant has {} shards, written in at most {} lanes", ranges.size(), lanes);
        shards = known;
        this.lanes = lanes;
        pool.resize(lanes + GroupCommit.SPARES);
      }
    } catch (RuntimeException | Error e) {
      // Mostly because the database is away, which others report.
      LOG.debug("The shards cannot be read", e);
    }
  }

  /** Returns the lane of a range where there are fewer lanes: those of one node share some. */
  private static int sharedLane(int number, int node, int nodes, int lanes) {
    int lanesOfNode = Math.max(1, lanes / nodes);
    return (node * lanesOfNode + number % lanesOfNode) % lanes;
  }

  private static List<Range> ranges(Connection connection) throws SQLException {
    List<Range> ranges = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(RANGES)) {
      while (row.next()) {
        ranges.add(new Range(row.getInt(1), row.getString(2)));
      }
    }
    return ranges;
  }

  /** Ends the reading. */
  @Override
  @PreDestroy
  public void close() {
    executor.shutdownNow();
  }

  /**
   * Returns what {@code hashint8} of PostgreSQL returns, by which Citus distributes: the final
   * mixing of Bob Jenkins' lookup3, on both halves folded so that equal numbers of all sizes hash
   * equally.
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
