package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The shards that one node keeps. They share some of the threads, so that a node that does not
 * respond leaves threads and room for the plants of other nodes. A batch waits up to 20 ms until no
 * other batch of the node is in flight, so that batches are large. Safe for use by multiple
 * threads.
 */
final class Node implements GroupCommit.Table, Executor {

  /** The maximum number of plants that wait for a silent node. */
  static final int MAX_PLANTS = 256;

  private static final Duration WAIT = Duration.ofMillis(20);

  /** A node that has not responded to an attempt for this time is silent. */
  private static final Duration SILENCE = Duration.ofMillis(250);

  private record Writer(Runnable batch, long waitsSince) {}

  /** The shards by their least hash values. */
  final Map<Integer, GroupCommit> shards = new ConcurrentHashMap<>();

  private final GroupCommit whole;
  private final IntSupplier maxWriters;
  private final Queue<Writer> waiting = new ArrayDeque<>();
  private int running;

  /** When the first attempt since the last response began, as nanoTime, or 0 for none. */
  private volatile long unanswered;

  /**
   * Creates a node without shards.
   *
   * @param whole has the table, the executor and the settings
   * @param maxWriters returns the maximum number of batches in flight
   */
  Node(GroupCommit whole, IntSupplier maxWriters) {
    this.whole = whole;
    this.maxWriters = maxWriters;
  }

  GroupCommit shard(int leastHash) {
    return shards.computeIfAbsent(
        leastHash, key -> new GroupCommit(this, this, true, whole.timeout, whole.metrics));
  }

  @Override
  public synchronized void execute(Runnable batch) {
    waiting.add(new Writer(batch, System.nanoTime()));
    startWriters();
  }

  private synchronized void startWriters() {
    for (Writer next = waiting.peek(); next != null && mayRun(next); next = waiting.peek()) {
      Runnable batch = next.batch;
      try {
        whole.executor.execute(() -> run(batch));
      } catch (RejectedExecutionException | Error e) {
        return; // The next sweep tries again.
      }
      waiting.remove();
      running++;
    }
  }

  /**
   * Tries a silent node with at most two batches at a time. Each attempt may leave a blocked
   * connection on the coordinator, but a single one may only wait for a locked id.
   */
  private boolean mayRun(Writer writer) {
    boolean isLate = System.nanoTime() - writer.waitsSince >= WAIT.toNanos();
    int most = Math.min(isSilent() ? 2 : PostgresPlantStore.WRITERS, maxWriters.getAsInt());
    return running == 0 || (isLate && running < most);
  }

  private void run(Runnable batch) {
    try {
      batch.run();
    } finally {
      synchronized (this) {
        running--;
        startWriters();
      }
    }
  }

  @Override
  public Map<Long, @Nullable NewPlant> putIfAbsent(
      SortedMap<Long, NewPlant> plants, boolean isRetry) throws DatabaseFailure {
    if (unanswered == 0) {
      unanswered = System.nanoTime() | 1; // not 0
    }
    try {
      Map<Long, @Nullable NewPlant> rows = whole.table.putIfAbsent(plants, isRetry);
      unanswered = 0;
      return rows;
    } catch (DatabaseFailure e) {
      if (e.retry() == DatabaseFailure.Retry.ALONE) { // a lock, or a refusal
        unanswered = 0;
      }
      throw e;
    }
  }

  private boolean isSilent() {
    long since = unanswered;
    return since != 0 && System.nanoTime() - since > SILENCE.toNanos();
  }

  /** Enforces deadlines, and the number of plants that may wait for a silent node. */
  void sweep() {
    if (isSilent()) {
      int most = MAX_PLANTS / Math.max(1, Math.min(MAX_PLANTS, shards.size()));
      shards.values().forEach(shard -> shard.limit(most));
    }
    shards.values().forEach(GroupCommit::sweep);
    startWriters();
  }
}
