package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * The plants that wait to be written, and who writes the next batch of them. One writer with one
 * batch at a time makes the largest batches; a writer whose batch takes unusually long is replaced,
 * so that it does not hold up everybody. Safe for use by many threads.
 */
public final class BatchQueue {

  /**
   * What bounds a batch. How much waits is up to the callers, each of whom waits with one plant.
   *
   * @param plants the most plants in a batch
   * @param bytes the most bytes in a batch, unless a single plant has more
   */
  public record Limits(int plants, long bytes) {}

  /**
   * Plants that are written together.
   *
   * @param plants the plants in the order in which they came, at least one
   * @param began when their writing began, as a value of {@link System#nanoTime()}
   */
  record Batch(List<WaitingPlant> plants, long began) {

    private boolean isOverdue() {
      return System.nanoTime() - began >= OVERDUE_AFTER.toNanos();
    }
  }

  private static final Duration OVERDUE_AFTER = Duration.ofMillis(20);
  private static final Duration WATCH_PAUSE = Duration.ofMillis(10);

  private final Limits limits;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition watched = lock.newCondition();
  private final Queue<WaitingPlant> queue = new ArrayDeque<>();

  /** All whose callers wait, in the queue or in a batch, and some whose callers no longer do. */
  private final Queue<WaitingPlant> awaited = new ArrayDeque<>();

  private boolean closed;

  /** The writers, among them those that were replaced and still write an overdue batch. */
  private int writers;

  /** Whether one of the writers has not been replaced. */
  private boolean hasPresentWriter;

  /** The batch that the present writer writes, or null between two of them. */
  private @Nullable Batch present;

  private boolean isWatcherAsleep;

  private long takenPlants;
  private long waitedNanos;

  BatchQueue(Limits limits) {
    this.limits = limits;
  }

  /**
   * Adds a plant at the end.
   *
   * @throws PlantStoreUnavailableException if the queue is closed
   */
  void add(WaitingPlant plant) {
    lock.lock();
    try {
      dropOver();
      if (closed) {
        throw new PlantStoreUnavailableException("the store is closed");
      }
      queue.add(plant);
      awaited.add(plant);
      filled.signal();
      if (isWatcherAsleep) {
        watched.signal();
      }
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
      if (Objects.equals(present, written)) {
        present = null;
        dropOver();
        while (queue.isEmpty() && !closed) {
          filled.awaitUninterruptibly();
          dropOver();
        }
        if (!queue.isEmpty()) {
          present = new Batch(takePlants(), System.nanoTime());
          count(present);
          return present;
        }
      }
      writers--;
      return null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Watches over those who wait: lets them give up at their deadlines, and waits until a writer is
   * needed, which is at first, and when the present one's batch is overdue while others wait.
   *
   * @param maxWriters how many writers there may be, those included that were replaced and still
   *     write an overdue batch
   * @return true if a new writer is needed, false if the queue is closed and nobody waits
   */
  boolean awaitNeedOfWriter(int maxWriters) {
    lock.lock();
    try {
      while (true) {
        awaited.forEach(WaitingPlant::giveUpAtDeadline);
        awaited.removeIf(WaitingPlant::isOver);
        if (closed && awaited.isEmpty()) {
          return false;
        }
        if (isPresentInTheWay()) {
          present = null;
          hasPresentWriter = false;
        }
        if (!hasPresentWriter && writers < maxWriters) {
          hasPresentWriter = true;
          writers++;
          return true;
        }
        pauseWatching();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody has the watcher to interrupt it", e);
    } finally {
      lock.unlock();
    }
  }

  /** Has a writer replaced that could not be started, or has ended without saying so. */
  void replaceWriter() {
    lock.lock();
    try {
      writers--;
      present = null;
      hasPresentWriter = false;
      watched.signal();
    } finally {
      lock.unlock();
    }
  }

  private boolean isPresentInTheWay() {
    return present != null && present.isOverdue() && !queue.isEmpty();
  }

  @SuppressWarnings("WaitNotInLoop") // the loop is in awaitNeedOfWriter
  private void pauseWatching() throws InterruptedException {
    if (awaited.isEmpty()) {
      isWatcherAsleep = true;
      watched.awaitUninterruptibly();
      isWatcherAsleep = false;
    } else {
      watched.awaitNanos(WATCH_PAUSE.toNanos());
    }
  }

  /** Refuses further plants, and lets the writers end when all that wait are written. */
  void close() {
    lock.lock();
    try {
      closed = true;
      filled.signalAll();
      watched.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Nearly all wait equally long, so those for whom nobody waits any more are in front. */
  private void dropOver() {
    while (!queue.isEmpty() && queue.element().isOver()) {
      queue.remove();
    }
  }

  private List<WaitingPlant> takePlants() {
    List<WaitingPlant> plants = new ArrayList<>();
    long bytes = 0;
    do {
      bytes += queue.element().bytes();
      plants.add(queue.remove());
    } while (!queue.isEmpty()
        && !plants.get(0).isSeparate()
        && !queue.element().isSeparate()
        && plants.size() < limits.plants()
        && bytes + queue.element().bytes() <= limits.bytes());
    return plants;
  }

  private void count(Batch batch) {
    takenPlants += batch.plants().size();
    for (WaitingPlant plant : batch.plants()) {
      waitedNanos += batch.began() - plant.since();
    }
  }

  /** Answers how many plants wait for their batch now. */
  int waitingPlants() {
    return locked(queue::size);
  }

  /** Answers how many plants have ever been taken into batches. */
  long takenPlants() {
    return locked(() -> takenPlants);
  }

  /** Answers how long all these have waited for their batches, taken together. */
  Duration waited() {
    return locked(() -> Duration.ofNanos(waitedNanos));
  }

  private <T> T locked(Supplier<T> read) {
    lock.lock();
    try {
      return read.get();
    } finally {
      lock.unlock();
    }
  }
}
