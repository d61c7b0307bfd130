package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;

/**
 * The plants that wait for a batch, in the order of their arrival. One rule decides when a batch is
 * taken: plants are waiting, and no batch younger than 20 ms is being written. So batches are
 * written one at a time, which makes them large, unless one takes unusually long. Safe for use by
 * many threads.
 */
final class BatchQueue {

  /** Plants in the order of their arrival, and the {@link System#nanoTime()} of being taken. */
  record Batch(List<WaitingPlant> plants, long began) {}

  private static final Duration EXCLUSIVE = Duration.ofMillis(20);

  private final GroupCommit.Limits limits;
  private final Queue<WaitingPlant> queue = new ArrayDeque<>();
  private boolean closed;

  /** The batches that are being written, the youngest last. */
  private final Deque<Batch> writing = new ArrayDeque<>();

  BatchQueue(GroupCommit.Limits limits) {
    this.limits = limits;
  }

  /** Adds a plant at the end, or fails it if the queue is closed. */
  synchronized void add(WaitingPlant plant) {
    if (closed) {
      plant.fail(WaitingPlant.unavailable(Remedy.NONE, "the store is closed"));
    } else {
      queue.add(plant);
      // For the second and later plants the writer that finishes, or the sweep, sees to it.
      if (queue.size() == 1) {
        wakeWriterIfReady();
      }
    }
  }

  /**
   * Takes the next batch, and waits for it if necessary.
   *
   * @return the batch, or null if the queue is closed and empty
   */
  synchronized @Nullable Batch take() throws InterruptedException {
    while (true) {
      queue.removeIf(WaitingPlant::isDone);
      if (isReady()) {
        Batch batch = new Batch(new ArrayList<>(), System.nanoTime());
        writing.add(batch);
        fill(batch.plants());
        return batch;
      }
      if (closed && queue.isEmpty()) {
        return null;
      }
      wait();
    }
  }

  /** Reports that a batch has been written, or has failed. */
  synchronized void finish(Batch batch) {
    writing.remove(batch);
  }

  /**
   * Fails plants whose deadline has passed, drops those whose callers no longer wait, and wakes a
   * writer if the rule allows a batch, or all writers if the queue is closed.
   *
   * @return whether a plant is waiting, or one may come
   */
  synchronized boolean sweep() {
    queue.forEach(WaitingPlant::expire);
    writing.forEach(batch -> batch.plants().forEach(WaitingPlant::expire));
    queue.removeIf(WaitingPlant::isDone);
    if (closed) {
      notifyAll(); // the last plant is taken by one writer, and all have to end
    } else {
      wakeWriterIfReady();
    }
    return !closed
        || !queue.isEmpty()
        || writing.stream()
            .anyMatch(batch -> !batch.plants().stream().allMatch(WaitingPlant::isDone));
  }

  /** Refuses further plants; sweeps end the writers when those that wait are written. */
  synchronized void close() {
    closed = true;
  }

  private void wakeWriterIfReady() {
    if (isReady()) {
      notify();
    }
  }

  private boolean isReady() {
    return !queue.isEmpty()
        && (writing.isEmpty()
            || System.nanoTime() - writing.getLast().began() >= EXCLUSIVE.toNanos());
  }

  /** Moves plants from the queue; each is in one of both at any time, so the sweep finds it. */
  private void fill(List<WaitingPlant> plants) {
    long bytes = 0;
    do {
      WaitingPlant next = queue.element();
      plants.add(next);
      queue.remove();
      bytes += next.bytes();
    } while (!queue.isEmpty()
        && !plants.get(0).isSeparate()
        && !queue.element().isSeparate()
        && plants.size() < limits.plants()
        && bytes + queue.element().bytes() <= limits.bytes());
  }

  /** Returns the number of plants waiting for a batch. */
  synchronized int waitingPlants() {
    return queue.size();
  }
}
