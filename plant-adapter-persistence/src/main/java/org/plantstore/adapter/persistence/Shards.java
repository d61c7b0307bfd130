package org.plantstore.adapter.persistence;

import static java.util.stream.Collectors.toSet;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
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

  /** A part of the table, with its writers and its last answer. */
  private final class Shard implements GroupCommit.Table, Executor {

    final GroupCommit commit = new GroupCommit(this, this, 1, timeout, metrics);

    /** When the first attempt since the last answer began, as nanoTime, or 0 for none. */
    private volatile long unanswered;

    @Override
    public Rows putIfAbsent(SortedMap<Long, NewPlant> plants, boolean isRetry)
        throws DatabaseFailure {
      if (unanswered == 0) {
        unanswered = System.nanoTime() | 1; // not 0
      }
      try {
        Rows rows = table.putIfAbsent(plants, isRetry);
        unanswered = 0;
        return rows;
      } catch (DatabaseFailure e) {
        if (e.retry() == DatabaseFailure.Retry.ALONE) { // of a lock, or a refusal
          unanswered = 0;
        }
        throw e;
      }
    }

    @Override
    public void execute(Runnable writer) {
      if (isSilent() && writersOfSilent.incrementAndGet() > executor.getMaximumPoolSize() / 2) {
        throw new RejectedExecutionException();
      }
      executor.execute(writer);
    }

    boolean isSilent() {
      long since = unanswered;
      return since != 0 && System.nanoTime() - since > SILENCE.toNanos();
    }
  }

  private final GroupCommit.Table table;
  private final JdbcOperations database;
  private final ThreadPoolExecutor executor;
  private final Duration timeout;
  private final StoreMetrics metrics;
  private final AtomicInteger plantsOfSilent = new AtomicInteger();
  private final AtomicInteger writersOfSilent = new AtomicInteger();

  /** The shards by their least hash values; empty where the table is not distributed. */
  private volatile NavigableMap<Integer, Shard> shards = new TreeMap<>();

  /** Also the shards before the last change, which a create may have looked up before. */
  private final List<Shard> all = new CopyOnWriteArrayList<>();

  private boolean isClosed;
  private volatile long refreshed = System.nanoTime();

  /** Reads the shards. The executor has a thread for each connection. */
  Shards(
      GroupCommit.Table table,
      JdbcOperations database,
      ThreadPoolExecutor executor,
      Duration timeout,
      StoreMetrics metrics) {
    super(table, executor, PostgresPlantStore.WRITERS, timeout, metrics);
    this.table = table;
    this.database = database;
    this.executor = executor;
    this.timeout = timeout;
    this.metrics = metrics;
    refresh();
  }

  /** Returns whether the database has Citus. */
  static boolean areIn(Connection connection) throws SQLException {
    String metadata = "SELECT 1 WHERE to_regclass('pg_dist_partition') IS NOT NULL";
    return !DatabaseStart.rows(connection, metadata).isEmpty();
  }

  @Override
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    Shard shard = shardOf(plant.id());
    if (shard == null) {
      return super.putIfAbsent(plant);
    }
    if (shard.isSilent() && plantsOfSilent.incrementAndGet() > MAX_PLANTS_OF_SILENT) {
      return CompletableFuture.failedFuture(
          new PlantStoreUnavailableException(
              "the shard of the plant has not answered for 1 s, and enough plants wait for it"));
    }
    return shard.commit.putIfAbsent(plant);
  }

  /** Returns the shard that keeps the id, or null if the table is not distributed. */
  private @Nullable Shard shardOf(long id) {
    NavigableMap<Integer, Shard> known = shards;
    Map.Entry<Integer, Shard> shard = known.floorEntry(ShardHash.of(id));
    shard = shard == null ? known.firstEntry() : shard;
    return shard == null ? null : shard.getValue();
  }

  /** Reads the shards. If that fails, the known shards stay. */
  void refresh() {
    try {
      List<String> least = database.execute(connection -> DatabaseStart.rows(connection, RANGES));
      update(least.stream().map(Integer::valueOf).collect(toSet()));
    } catch (RuntimeException | Error e) {
      // Mostly because the database is down, which is reported elsewhere.
      LOG.debug("The shards cannot be read", e);
    }
  }

  private synchronized void update(Set<Integer> least) {
    if (!isClosed && !least.equals(shards.keySet())) {
      all.removeIf(shard -> !shards.containsValue(shard) && shard.commit.plants() == 0);
      NavigableMap<Integer, Shard> next = new TreeMap<>();
      least.forEach(value -> next.put(value, new Shard()));
      all.addAll(next.values());
      shards = next;
      LOG.info("The table plant has {} shards", least.size());
    }
  }

  @Override
  void sweep() {
    long now = System.nanoTime();
    if (now - refreshed >= REFRESH.toNanos()) {
      refreshed = now;
      executor.execute(this::refresh);
    }
    int plants = 0;
    int writers = 0;
    for (Shard shard : all) {
      if (shard.isSilent()) {
        plants += shard.commit.plants();
        writers += shard.commit.writers();
      }
    }
    plantsOfSilent.set(plants);
    writersOfSilent.set(writers);
    super.sweep();
    all.forEach(shard -> shard.commit.sweep());
  }

  @Override
  int waitingPlants() {
    return super.waitingPlants()
        + all.stream().mapToInt(shard -> shard.commit.waitingPlants()).sum();
  }

  @Override
  int plants() {
    return super.plants() + all.stream().mapToInt(shard -> shard.commit.plants()).sum();
  }

  @Override
  synchronized void close() {
    isClosed = true;
    super.close();
    all.forEach(shard -> shard.commit.close());
  }
}
