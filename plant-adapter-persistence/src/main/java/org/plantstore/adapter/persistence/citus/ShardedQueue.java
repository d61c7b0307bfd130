package org.plantstore.adapter.persistence.citus;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.PlantQueue;
import org.plantstore.adapter.persistence.citus.Shards.LaneId;
import org.plantstore.adapter.persistence.citus.Shards.Shard;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.plantstore.domain.NewPlant;

/**
 * A group commit and a circuit breaker for each lane, which has the plants of some shards of a
 * node, so that a node that fails does not hold up the plants of other nodes. Safe for use by many
 * threads.
 */
public final class ShardedQueue implements PlantQueue {

  /** A group commit, with a circuit breaker where the table is distributed. */
  private record Lane(GroupCommit commit, @Nullable CircuitBreaker breaker) {}

  private final Map<LaneId, Lane> lanes = new ConcurrentHashMap<>();
  private final LaneSlots slots = new LaneSlots();
  final Shards shards;
  private final GroupCommit.Table table;
  private final Duration timeout;
  private final Counts counts;
  private volatile boolean isClosed;

  /**
   * Creates a queue, which follows the shards and sets the size of the pool.
   *
   * @param timeout how long callers may wait
   */
  public ShardedQueue(
      GroupCommit.Table table,
      JdbcOperations database,
      ConnectionPool pool,
      Duration timeout,
      Counts counts) {
    this.table = table;
    this.shards = new Shards(database, pool);
    this.timeout = timeout;
    this.counts = counts;
  }

  @Override
  public CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    Lane lane = lane(shards.of(plant.id()).lane());
    var refusal = lane.breaker == null ? null : lane.breaker.refusal();
    if (refusal != null) {
      counts.refused().increment();
      return CompletableFuture.failedFuture(refusal);
    }
    return lane.commit.putIfAbsent(plant);
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
    Lane lane = lanes.computeIfAbsent(id, this::open);
    if (isClosed) {
      lane.commit.shutdown(); // close() may not have seen it
    }
    return lane;
  }

  private Lane open(LaneId id) {
    if (id.equals(Shard.WHOLE.lane())) {
      return new Lane(new GroupCommit(table, timeout, counts), null);
    }
    String node = "the database node " + id.node();
    CircuitBreaker breaker = new CircuitBreaker(node, timeout);
    GroupCommit commit =
        new GroupCommit(
            node,
            breaker.watch(table),
            slots.ofLane(id.node()),
            plant -> shards.of(plant.id()).number(),
            breaker::timeout,
            counts);
    return new Lane(commit, breaker);
  }

  @Override
  public int waitingPlants() {
    return lanes.values().stream().mapToInt(lane -> lane.commit.waitingPlants()).sum();
  }

  @Override
  public void close() {
    isClosed = true;
    shards.close();
    lanes.values().forEach(lane -> lane.commit.close());
  }
}
