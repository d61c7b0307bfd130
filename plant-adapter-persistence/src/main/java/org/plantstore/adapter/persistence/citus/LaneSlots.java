package org.plantstore.adapter.persistence.citus;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.persistence.batch.GroupCommit;

/**
 * Slots for batches to a distributed table. Each lane has one slot of its own; all lanes share
 * three more. A hung lane therefore cannot take another lane's connection. Safe for use by many
 * threads.
 */
final class LaneSlots {

  static final int SHARED = GroupCommit.WRITERS - 1;

  final Semaphore shared = new Semaphore(SHARED);
  private final Map<String, Semaphore> nodes = new ConcurrentHashMap<>();

  /**
   * Returns the slots of a lane. If the node already writes a batch, waits up to 50 ms for it,
   * takes no slot yet, and collects more plants: eight rows cost the node no more than two.
   */
  GroupCommit.Limit ofLane(String node) {
    Semaphore own = new Semaphore(1);
    Semaphore turn = nodes.computeIfAbsent(node, absent -> new Semaphore(1, true));
    return () -> {
      boolean hasTurn = turn.tryAcquire(50, TimeUnit.MILLISECONDS);
      boolean isOwn = own.tryAcquire();
      if (!isOwn) {
        shared.acquire();
      }
      return () -> {
        (isOwn ? own : shared).release();
        turn.release(hasTurn ? 1 : 0);
      };
    };
  }
}
