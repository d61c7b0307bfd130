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
 * The plants that wait to be written, and whose turn it is to write the next batch of them. One
 * batch at a time makes the largest batches; one that takes unusually long is overtaken by the
 * next, so that it does not hold up everybody. Safe for use by many threads.
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

    private long leftUntilOvertaken() {
      return OVERTAKEN_AFTER.toNanos() - (System.nanoTime() - began);
    }
  }

  private static final Duration OVERTAKEN_AFTER = Duration.ofMillis(20);

  private final Limits limits;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Queue<WaitingPlant> queue = new ArrayDeque<>();
  private long queuedBytes;
  private boolean closed;

  /** The batch whose writing began last, until it is written. */
  private @Nullable Batch latest;

  private boolean latestIsWatched;

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
      if (!isLatestInTime()) {
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the next batch.
   *
   * @param written the batch that this writer has written, or null at first
   * @return the plants that waited longest; null if the queue is closed and all are written
   */
  @Nullable Batch next(@Nullable Batch written) {
    lock.lock();
    try {
      if (Objects.equals(latest, written)) {
        latest = null;
      }
      dropOver();
      while (queue.isEmpty() ? !closed : isLatestInTime()) {
        awaitChange();
        dropOver();
      }
      if (queue.isEmpty()) {
        changed.signal(); // to the next writer, which ends too
        return null;
      }
      latest = new Batch(takePlants(), System.nanoTime());
      if (!latestIsWatched) {
        changed.signal();
      }
      return latest;
    } finally {
      lock.unlock();
    }
  }

  /** Refuses further plants, and lets the writers end when all that wait are written. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** One writer watches how long the latest batch takes; the others sleep until they are needed. */
  @SuppressWarnings("WaitNotInLoop") // the loop is in next
  private void awaitChange() {
    Batch watched = latest;
    if (watched == null || latestIsWatched || !isLatestInTime()) {
      changed.awaitUninterruptibly();
      return;
    }
    latestIsWatched = true;
    try {
      changed.awaitNanos(watched.leftUntilOvertaken());
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody has the writers to interrupt them", e);
    } finally {
      latestIsWatched = false;
    }
  }

  private boolean isLatestInTime() {
    return latest != null && latest.leftUntilOvertaken() > 0;
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
