package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.Permits;
import org.plantstore.adapter.persistence.batch.Shard;
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
  private final Duration timeout;
  private volatile boolean isClosed;

  PostgresPlantStore(
      PlantTable table,
      Shards shards,
      DatabaseTimeouts timeouts,
      @Nullable MeterRegistry registry) {
    StoreMetrics metrics = new StoreMetrics(registry);
    this.shards = shards;
    this.table = metrics.measured(table);
    this.timeout = timeouts.create();
    metrics.watch(lanes.values());
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    CompletableFuture<NewPlant> stored = putIfAbsentAsync(plant, Runnable::run);
    try {
      return stored.get();
    } catch (ExecutionException e) {
      throw (RuntimeException) e.getCause();
    } catch (InterruptedException e) {
      stored.cancel(false);
      Thread.currentThread().interrupt();
      throw new PlantStoreUnavailableException("interrupted while waiting for the database");
    }
  }

  /** Does not use the executor: a writer completes the stage. */
  @Override
  public CompletableFuture<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(executor, "executor");
    Shard shard = shards.of(requireNonNull(plant, "plant").id());
    if (isClosed) {
      return CompletableFuture.failedFuture(
          new PlantStoreUnavailableException("the store is closed"));
    }
    return lane(shard.lane()).putIfAbsent(plant, shard);
  }

  private GroupCommit lane(int number) {
    if (lanes.size() > shards.lanes()) {
      // Of shards that were merged. Those that wait there are still written.
      lanes.keySet().stream().filter(each -> each >= shards.lanes()).forEach(this::retire);
    }
    return lanes.computeIfAbsent(
        number, absent -> new GroupCommit(table, LIMITS, timeout, permits));
  }

  private void retire(int number) {
    GroupCommit lane = lanes.remove(number);
    if (lane != null) {
      lane.shutdown();
    }
  }

  /** Closes the lanes. Beans that this store needs are closed later. */
  @PreDestroy
  void close() {
    isClosed = true;
    lanes.values().forEach(GroupCommit::close);
  }
}
