package org.plantstore.adapter.persistence;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
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

  /** The plants that may wait for silent shards, so that callers of others find room. */
  static final int MAX_PLANTS_OF_SILENT = 256;

  private static final Logger LOG = LoggerFactory.getLogger(Shards.class);
  private static final Duration REFRESH = Duration.ofSeconds(30);

  /** A shard without an answer for this time is silent. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  /** The least hash value of each shard. */
  private static final String RANGES =
      """
      SELECT shardminvalue::integer FROM pg_dist_partition JOIN pg_dist_shard USING (logicalrelid)
      WHERE logicalrelid = to_regclass('plant') AND partmethod = 'h'
      """;

  /** Returns one row for each fault of the distribution. */
  static final String FAULTS = DatabaseStart.resource("faults-of-citus.query");

  /** A part of the table, with one writer. */
  private final class Shard implements Table, Executor {

    final GroupCommit commit = new GroupCommit(this, this, 1, timeout, metrics);

    /** When the first attempt since the last answer began, as nanoTime, or 0 for none. */
    private volatile long unanswered;

    @Override
    public Map<Long, @Nullable NewPlant> putIfAbsent(
        SortedMap<Long, NewPlant> plants, boolean isRetry) throws DatabaseFailure {
      if (unanswered == 0) {
        unanswered = System.nanoTime() | 1; // not 0
      }
      boolean isAnswered = true;
      try {
        return table.putIfAbsent(plants, isRetry);
      } catch (DatabaseFailure e) {
        isAnswered = e.retry() == DatabaseFailure.Retry.ALONE; // of a lock, or a refusal
        throw e;
      } finally {
        unanswered = isAnswered ? 0 : unanswered;
      }
    }

    @Override
    public void execute(Runnable writer) {
      if (isSilent() && writersOfSilent.incrementAndGet() > maxWritersOfSilent) {
        throw new RejectedExecutionException();
      }
      executor.execute(writer);
    }

    boolean isSilent() {
      long since = unanswered;
      return since != 0 && System.nanoTime() - since > SILENCE.toNanos();
    }
  }

  private final JdbcOperations database;
  private final int maxWritersOfSilent;
  private final AtomicInteger plantsOfSilent = new AtomicInteger();
  private final AtomicInteger writersOfSilent = new AtomicInteger();

  /** The shards that were ever read, by their least hash values. */
  private final Map<Integer, Shard> all = new ConcurrentHashMap<>();

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
    this.maxWritersOfSilent = threads / 2;
    refresh();
  }

  /** Returns whether the database has Citus. */
  static boolean areIn(Connection connection) throws SQLException {
    String metadata = "SELECT 1 WHERE to_regclass('pg_dist_partition') IS NOT NULL";
    return !DatabaseStart.rows(connection, metadata).isEmpty();
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
      List<String> least = database.execute(connection -> DatabaseStart.rows(connection, RANGES));
      NavigableMap<Integer, Shard> next = new TreeMap<>();
      for (String value : least) {
        next.put(
            Integer.valueOf(value),
            all.computeIfAbsent(Integer.valueOf(value), key -> new Shard()));
      }
      shards = next;
    } catch (RuntimeException | Error e) {
      // Mostly because the database is down, which is reported elsewhere.
      LOG.debug("The shards cannot be read", e);
    }
  }

  @Override
  void sweep() {
    if (System.nanoTime() - refreshed >= REFRESH.toNanos()) {
      refreshed = System.nanoTime(); // once
      executor.execute(this::refresh);
    }
    Collection<Shard> silent = all.values().stream().filter(Shard::isSilent).toList();
    plantsOfSilent.set(silent.stream().mapToInt(shard -> shard.commit.plants()).sum());
    writersOfSilent.set(silent.stream().mapToInt(shard -> shard.commit.writers()).sum());
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
