package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The group commit for all shards on one node of a Citus cluster. A node that does not respond can
 * occupy only a few threads and a limited number of waiting plants, so plants on other nodes can
 * still be stored. Safe for use by multiple threads.
 */
final class Node extends GroupCommit {

  /** The maximum number of plants that may wait for a silent node. */
  static final int MAX_PLANTS = 256;

  /** A node is silent if it has not responded to an attempt for this time. */
  private static final Duration SILENCE = Duration.ofMillis(250);

  private final IntSupplier share;

  /** The nanoTime of the first attempt since the last response, or 0 if there was none. */
  private volatile long unanswered;

  /**
   * Creates a node.
   *
   * @param whole the group commit whose table, executor, and settings this node uses
   * @param share returns the number of threads that each node may use
   */
  Node(GroupCommit whole, IntSupplier share) {
    super(whole.table, whole.executor, whole.timeout, whole.metrics);
    this.share = share;
  }

  /**
   * Returns the maximum number of batches in flight, which is at most 2 for a silent node. Each
   * attempt may leave a blocked connection on the coordinator, but the first attempt may merely be
   * waiting for a locked id.
   */
  @Override
  int maxWriters() {
    return Math.min(isSilent() ? 2 : super.maxWriters(), share.getAsInt());
  }

  @Override
  Map<Long, @Nullable NewPlant> put(SortedMap<Long, NewPlant> plants, boolean isRetriedAlone)
      throws DatabaseFailure {
    if (unanswered == 0) {
      unanswered = System.nanoTime() | 1; // never 0
    }
    try {
      Map<Long, @Nullable NewPlant> rows = super.put(plants, isRetriedAlone);
      unanswered = 0;
      return rows;
    } catch (DatabaseFailure e) {
      if (e.retry() == DatabaseFailure.Retry.ALONE) { // The node has reported a lock or a refusal.
        unanswered = 0;
      }
      throw e;
    }
  }

  private boolean isSilent() {
    long since = unanswered;
    return since != 0 && System.nanoTime() - since > SILENCE.toNanos();
  }

  @Override
  void sweep() {
    if (isSilent()) {
      limit(MAX_PLANTS);
    }
    super.sweep();
  }
}
