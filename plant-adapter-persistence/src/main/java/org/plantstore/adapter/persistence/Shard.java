package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The plants of a shard, of which one batch at a time is written. Shards of a node take turns, so
 * that batches are large. A shard that has waited 20 ms is written out of turn, which a slow node
 * makes necessary; that takes at most half of the threads. Safe for use by many threads.
 */
final class Shard implements GroupCommit.Table, Executor {

  private static final Duration WAIT = Duration.ofMillis(20);

  /** A shard without an answer for this time is silent. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  final GroupCommit commit;
  private final GroupCommit.Table table;
  private final Executor executor;
  private final Semaphore turn;
  private final Semaphore outOfTurn;

  /** When the first attempt since the last answer began, as nanoTime, or 0 for none. */
  private volatile long unanswered;

  Shard(GroupCommit whole, Semaphore turnOfNode, Semaphore outOfTurn) {
    this.table = whole.table;
    this.executor = whole.executor;
    this.turn = turnOfNode;
    this.outOfTurn = outOfTurn;
    this.commit = new GroupCommit(this, this, 1, whole.timeout, whole.metrics);
  }

  @Override
  public void execute(Runnable writer) {
    executor.execute(() -> {
      Semaphore taken = hasTurn() ? turn : outOfTurn.tryAcquire() ? outOfTurn : null;
      if (taken == null) {
        execute(writer);
        return;
      }
      try {
        writer.run();
      } finally {
        taken.release();
      }
    });
  }

  private boolean hasTurn() {
    try {
      return turn.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Override
  public Map<Long, @Nullable NewPlant> putIfAbsent(
      SortedMap<Long, NewPlant> plants, boolean isRetry) throws DatabaseFailure {
    if (unanswered == 0) {
      unanswered = System.nanoTime() | 1; // not 0
    }
    boolean isAnswered = true;
    try {
      return table.putIfAbsent(plants, isRetry);
    } catch (DatabaseFailure e) {
      isAnswered = e.retry() == DatabaseFailure.Retry.ALONE; // of a lock, or a refusal
      throw e;
    } finally {
      unanswered = isAnswered ? 0 : unanswered;
    }
  }

  boolean isSilent() {
    long since = unanswered;
    return since != 0 && System.nanoTime() - since > SILENCE.toNanos();
  }
}
