package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.Permits;
import org.plantstore.adapter.persistence.batch.Shard;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.plantstore.adapter.persistence.database.DatabaseTimeouts;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Keeps plants in a table of PostgreSQL, and commits those of concurrent callers together. Where
 * the table is distributed, only plants of one shard share a commit, and each lane of shards has
 * its own queue.
 */
@Singleton
final class PostgresPlantStore implements PlantStore {

  /** Larger batches make a commit hardly cheaper, and its callers wait longer. */
  private static final GroupCommit.Limits LIMITS = new GroupCommit.Limits(256, 4 * 1024 * 1024);

  private final Map<Integer, GroupCommit> lanes = new ConcurrentHashMap<>();
  private final Permits permits = new Permits();
  private final Shards shards;
  private final GroupCommit.Table table;
  private final ConnectionPool pool;
  private final Duration timeout;

  PostgresPlantStore(
      PlantTable table,
      Shards shards,
      ConnectionPool pool,
      DatabaseTimeouts timeouts,
      @Nullable MeterRegistry registry) {
    StoreMetrics metrics = new StoreMetrics(registry);
    this.shards = shards;
    this.table = metrics.measured(table);
    this.pool = pool;
    this.timeout = timeouts.create();
    metrics.watch(lanes.values());
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    Shard shard = shards.of(requireNonNull(plant, "plant").id());
    try {
      return lane(shard.lane()).putIfAbsent(plant, shard);
    } catch (PlantStoreUnavailableException e) {
      String circumstances = circumstances(shard);
      throw circumstances.isEmpty()
          ? e
          : new PlantStoreUnavailableException(e.getMessage() + circumstances);
    }
  }

  private GroupCommit lane(int number) {
    return lanes.computeIfAbsent(
        number, absent -> new GroupCommit(table, LIMITS, timeout, permits));
  }

  private String circumstances(Shard shard) {
    String failure = pool.lastFailure();
    if (failure != null) {
      return "; connecting fails: " + failure;
    }
    return shard.isDistributed() ? "; the plant belongs to " + shard.node() : "";
  }

  /** The database is still there: what this store needs is closed after it. */
  @PreDestroy
  void close() {
    lanes.values().forEach(GroupCommit::close);
  }
}
