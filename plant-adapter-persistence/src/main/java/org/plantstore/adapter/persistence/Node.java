package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The group commit for the shards on one node of a Citus cluster. A node that has not responded for
 * 250 ms counts as <i>silent</i>. The number of batches and plants that may wait for a silent node
 * is limited, so that plants on other nodes can still be stored. This class is thread-safe.
 */
final class Node extends GroupCommit {

  /** The maximum number of plants that may wait for a silent node. */
  static final int MAX_PLANTS = 256;

  /** How long a node may take to respond before it counts as silent. */
  private static final Duration SILENCE = Duration.ofMillis(250);

  /** Supplies the number of threads that each node may use. */
  private final IntSupplier share;

  /** The nanoTime of the first batch sent since the node's last response, or 0 if there is none. */
  private volatile long unanswered;

  Node(GroupCommit shared, IntSupplier share) {
    super(shared.table, shared.executor, shared.timeout, shared.metrics);
    this.share = share;
  }

  /**
   * Returns the maximum number of batches in flight, which is at most 2 for a silent node.
   * Additional batches could block more of the coordinator's connections. A second batch is
   * allowed, because the first batch may merely be waiting for a locked id.
   */
  @Override
  int maxWriters() {
    return Math.min(isSilent() ? 2 : super.maxWriters(), share.getAsInt());
  }

  @Override
  Map<Long, @Nullable NewPlant> put(SortedMap<Long, NewPlant> plants, boolean isRetry)
      throws DatabaseFailure {
    if (unanswered == 0) {
      unanswered = System.nanoTime() | 1; // never 0
    }
    try {
      Map<Long, @Nullable NewPlant> rows = super.put(plants, isRetry);
      unanswered = 0;
      return rows;
    } catch (DatabaseFailure e) {
      if (e.retry() == DatabaseFailure.Retry.ALONE) { // The node has responded.
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
    if (plants() == 0) { // Nothing has been asked of the node, so it is not silent.
      unanswered = 0;
    }
  }
}
