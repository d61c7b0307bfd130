package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * The plants that wait to be written, and who writes the next batch of them. One writer with one
 * batch at a time makes the largest batches; a writer whose batch takes unusually long is replaced,
 * so that it does not hold up everybody. Safe for use by many threads.
 */
final class BatchQueue {

  /**
   * What bounds the memory that waiting plants can take.
   *
   * @param batchPlants the most plants in a batch
   * @param batchBytes the most bytes in a batch, unless a single plant has more
   * @param queuedPlants the most plants that wait
   * @param queuedBytes the most bytes that wait, unless a single plant has more
   */
  record Limits(int batchPlants, long batchBytes, int queuedPlants, long queuedBytes) {}

  /**
   * Plants that are written together.
   *
   * @param plants the plants in the order in which they came, at least one
   * @param began when their writing began, as a value of {@link System#nanoTime()}
   */
  record Batch(List<WaitingPlant> plants, long began) {

    private long nanosUntilOverdue() {
      return OVERDUE_AFTER.toNanos() - (System.nanoTime() - began);
    }
  }

  private static final Duration OVERDUE_AFTER = Duration.ofMillis(20);

  /** While nobody waits, a batch may take its time, but somebody may come. */
  private static final Duration WATCH_PAUSE = Duration.ofMillis(5);

  private final Limits limits;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition watchable = lock.newCondition();
  private final Queue<WaitingPlant> queue = new ArrayDeque<>();
  private long queuedBytes;
  private boolean closed;

  /** The batch that the present writer writes, or null between two of them. */
  private @Nullable Batch present;

  private boolean isWatcherAsleep;

  BatchQueue(Limits limits) {
    this.limits = limits;
  }

  /**
   * Adds a plant at the end.
   *
   * @throws PlantStoreUnavailableException if too much waits, or the queue is closed
   */
  void add(WaitingPlant plant) {
    lock.lock();
    try {
      dropOver();
      if (closed) {
        throw new PlantStoreUnavailableException("the store is closed");
      }
      if (queue.size() == limits.queuedPlants()
          || (!queue.isEmpty() && queuedBytes + plant.bytes() > limits.queuedBytes())) {
        throw new PlantStoreUnavailableException(
            "too much waits already: " + queue.size() + " plants with " + queuedBytes + " bytes");
      }
      queue.add(plant);
      queuedBytes += plant.bytes();
      filled.signal();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the next batch.
   *
   * @param written the batch that this writer has written, or null if it is a new one
   * @return the plants that waited longest; null if this writer has been replaced meanwhile, or if
   *     the queue is closed and all are written
   */
  @Nullable Batch next(@Nullable Batch written) {
    lock.lock();
    try {
      if (!Objects.equals(present, written)) {
        return null;
      }
      present = null;
      dropOver();
      while (queue.isEmpty() && !closed) {
        filled.awaitUninterruptibly();
        dropOver();
      }
      if (queue.isEmpty()) {
        return null;
      }
      present = new Batch(takePlants(), System.nanoTime());
      if (isWatcherAsleep) {
        watchable.signal();
      }
      return present;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the present writer's batch is overdue while others wait, and retires that writer.
   *
   * @return true if a new writer is needed, false if the queue is closed and all are taken
   */
  boolean awaitOverdue() {
    lock.lock();
    try {
      while (!closed || !queue.isEmpty()) {
        if (present == null) {
          isWatcherAsleep = true;
          watchable.awaitUninterruptibly();
          isWatcherAsleep = false;
        } else if (queue.isEmpty() || present.nanosUntilOverdue() > 0) {
          watchable.awaitNanos(Math.max(present.nanosUntilOverdue(), WATCH_PAUSE.toNanos()));
        } else {
          present = null;
          return true;
        }
      }
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody has the watcher to interrupt it", e);
    } finally {
      lock.unlock();
    }
  }

  /** Refuses further plants, and lets the writers end when all that wait are written. */
  void close() {
    lock.lock();
    try {
      closed = true;
      filled.signalAll();
      watchable.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Those for which nobody waits any more are in front, because all wait equally long. */
  private void dropOver() {
    while (!queue.isEmpty() && queue.element().isOver()) {
      remove();
    }
  }

  private List<WaitingPlant> takePlants() {
    List<WaitingPlant> plants = new ArrayList<>();
    long bytes = 0;
    do {
      bytes += queue.element().bytes();
      plants.add(remove());
    } while (!queue.isEmpty()
        && plants.size() < limits.batchPlants()
        && bytes + queue.element().bytes() <= limits.batchBytes());
    return plants;
  }

  private WaitingPlant remove() {
    WaitingPlant first = queue.remove();
    queuedBytes -= first.bytes();
    return first;
  }
}
