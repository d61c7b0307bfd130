package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Property;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.Shards.LaneId;
import org.plantstore.adapter.persistence.Shards.Shard;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Keeps plants in a table of PostgreSQL, and commits the plants of concurrent callers together.
 * Where the table is distributed, each lane of shards has a group commit of its own.
 */
@Singleton
final class PostgresPlantStore implements PlantStore {

  /** A group commit, with a circuit breaker where the table is distributed. */
  record Lane(GroupCommit commit, @Nullable CircuitBreaker breaker) {}

  private final Map<LaneId, Lane> lanes = new ConcurrentHashMap<>();
  private final LaneSlots slots = new LaneSlots();
  private final Shards shards;
  private final StoreMetrics metrics;
  private final GroupCommit.Table table;
  private final Duration timeout;
  private volatile boolean isClosed;

  PostgresPlantStore(
      PlantTable table,
      Shards shards,
      @Property(name = ConnectionPool.DEADLINE) int seconds,
      @Nullable MeterRegistry registry) {
    this.shards = shards;
    this.metrics = new StoreMetrics(registry, lanes.values());
    this.table = metrics.measured(table);
    this.timeout = Duration.ofSeconds(seconds);
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
    Lane lane = lane(shard.lane());
    var refusal = lane.breaker == null ? null : lane.breaker.refusal();
    if (refusal != null) {
      metrics.refusedPlants.increment();
      return CompletableFuture.failedFuture(refusal);
    }
    return lane.commit.putIfAbsent(plant, shard.number());
  }

  @Override
  public boolean isNonBlocking() {
    return true;
  }

  private Lane lane(LaneId id) {
    Set<LaneId> used = shards.lanes();
    if (lanes.size() > used.size()) {
      // Shards were merged or moved. Plants that wait in an unused lane are still written.
      lanes.forEach((each, lane) -> {
        if (!used.contains(each) && lanes.remove(each, lane)) {
          lane.commit.shutdown();
        }
      });
    }
    return lanes.computeIfAbsent(id, this::open);
  }

  private Lane open(LaneId id) {
    if (id.equals(Shard.WHOLE.lane())) {
      return new Lane(
          new GroupCommit("the database", table, () -> () -> {}, () -> timeout, metrics.waits),
          null);
    }
    String node = "the database node " + id.node();
    CircuitBreaker breaker = new CircuitBreaker(node, timeout);
    GroupCommit.Table watched = breaker.watch(table);
    GroupCommit.Slots ofNode = slots.ofLane(id.node());
    return new Lane(
        new GroupCommit(node, watched, ofNode, breaker::timeout, metrics.waits), breaker);
  }

  /** Closes the lanes. Beans that this store needs are closed later. */
  @PreDestroy
  void close() {
    isClosed = true;
    lanes.values().forEach(lane -> lane.commit.close());
  }
}
