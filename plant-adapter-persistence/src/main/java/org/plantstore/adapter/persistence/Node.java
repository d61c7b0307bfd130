package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The queue for the shards on one node of a Citus cluster. A node that has not responded for 250 ms
 * counts as silent. The number of batches and plants that can wait for a silent node is limited, so
 * that plants on other nodes can still be stored. This class is thread-safe.
 */
final class Node implements GroupCommit.Table {

  /** The maximum number of plants that can wait for a silent node. */
  static final int MAX_PLANTS = 256;

  /** How long a node may take to respond before it counts as silent. */
  private static final Duration SILENCE = Duration.ofMillis(250);

  final GroupCommit queue;
  private final GroupCommit.Table table;

  /**
   * The {@link System#nanoTime} at which a batch was first sent after the node's last response. The
   * value is 0 if no batch has been sent since the node's last response, or if no plant is waiting.
   */
  private volatile long awaitedSince;

  /**
   * Creates a node whose queue is empty.
   *
   * @param whole the queue for the whole table
   * @param share supplies the number of threads that each node is allowed to use
   */
  Node(GroupCommit whole, IntSupplier share) {
    table = whole.table;
    queue = whole.with(this, () -> Math.min(maxWriters(), share.getAsInt()));
  }

  /**
   * Returns the maximum number of batches in flight, which is at most 2 for a silent node.
   * Additional batches could block more of the coordinator's connections. A second batch is
   * allowed, because the first batch may merely be waiting for a locked id.
   */
  private int maxWriters() {
    return isSilent() ? 2 : PostgresPlantStore.WRITERS;
  }

  /** Writes a batch to the table, and records whether the node responds. */
  @Override
  public Map<Long, @Nullable NewPlant> putIfAbsent(
      SortedMap<Long, NewPlant> plants, boolean isRetriedAlone) throws DatabaseFailure {
    if (awaitedSince == 0) {
      awaitedSince = System.nanoTime() | 1; // never 0
    }
    try {
      Map<Long, @Nullable NewPlant> rows = table.putIfAbsent(plants, isRetriedAlone);
      awaitedSince = 0;
      return rows;
    } catch (DatabaseFailure e) {
      if (e.retry() == DatabaseFailure.Retry.ALONE) { // The node has responded.
        awaitedSince = 0;
      }
      throw e;
    }
  }

  private boolean isSilent() {
    long since = awaitedSince;
    return since != 0 && System.nanoTime() - since > SILENCE.toNanos();
  }

  void sweep() {
    if (isSilent()) {
      queue.limit(MAX_PLANTS);
    }
    queue.sweep();
    if (queue.plants() == 0) { // No plant is waiting, so the node does not count as silent.
      awaitedSince = 0;
    }
  }
}
