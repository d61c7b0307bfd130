package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the lanes of a store share: batches that are written beside another one of their lane, and
 * turns at each node. Safe for use by many threads.
 */
public final class Permits {

  /** Long enough for all lanes of a node to have their turns. */
  private static final Duration PATIENCE = Duration.ofMillis(50);

  private final Semaphore spares = new Semaphore(GroupCommit.SPARES);
  private final Map<String, Semaphore> turns = new ConcurrentHashMap<>();

  /**
   * Returns permits for batches that are written beside another one of their lane, so that a lane
   * that waits does not take the connections of all.
   */
  Semaphore spares() {
    return spares;
  }

  /**
   * Waits until no other batch is written to the node, for 50 ms at most. Each statement costs a
   * node the same, whether it has two rows or eight; while a lane waits, its batch grows. Where the
   * table is whole, there is one lane, and nothing to wait for.
   *
   * @return the turn, or null if there is none
   */
  @Nullable Semaphore awaitTurn(String node) throws InterruptedException {
    if (node.isEmpty()) {
      return null;
    }
    Semaphore turn = turns.computeIfAbsent(node, absent -> new Semaphore(1, true));
    return turn.tryAcquire(PATIENCE.toNanos(), TimeUnit.NANOSECONDS) ? turn : null;
  }

  /** Lets the next batch begin, if a turn was held. */
  static void endTurn(@Nullable Semaphore turn) {
    if (turn != null) {
      turn.release();
    }
  }
}
