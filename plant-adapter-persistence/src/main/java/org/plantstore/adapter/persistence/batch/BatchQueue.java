package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * The plants of a lane that wait for a batch, in the order of their arrival. A writer takes a batch
 * when plants are waiting and the youngest batch in flight is at least 20 ms old. So batches are
 * usually written one at a time, which makes them large. Where there are several lanes, a batch
 * also waits for its turn, see {@link Permits}. Safe for use by many threads.
 */
final class BatchQueue {

  /** Plants in the order of their arrival, and the {@link System#nanoTime()} of being taken. */
  record Batch(List<WaitingPlant> plants, long began, @Nullable Semaphore turn) {}

  private static final Duration EXCLUSIVE = Duration.ofMillis(20);

  private final GroupCommit.Limits limits;
  private final Permits permits;
  private final Outage outage;
  private final Queue<WaitingPlant> queue = new ArrayDeque<>();
  private boolean closed;

  /** The batches that are being written, the youngest last. */
  private final Deque<Batch> writing = new ArrayDeque<>();

  BatchQueue(GroupCommit.Limits limits, Permits permits, Outage outage) {
    this.limits = limits;
    this.permits = permits;
    this.outage = outage;
  }

  /**
   * Adds a plant at the end, or fails it if the queue is closed, or if a part of a distributed
   * table is away. Where the table is whole, a plant waits until its deadline.
   */
  void add(WaitingPlant plant) {
    RuntimeException refusal = tryAdd(plant);
    if (refusal != null) {
      plant.fail(refusal);
    }
  }

  /** Returns why the plant is not added, or null if it is. */
  private synchronized @Nullable RuntimeException tryAdd(WaitingPlant plant) {
    if (closed) {
      return new PlantStoreUnavailableException("the store is closed");
    }
    if (!outage.tryAdmit(plant)) {
      return outage.refuse();
    }
    queue.add(plant);
    // Later plants need no wake-up here: a finishing writer or the sweep finds them.
    if (queue.size() == 1) {
      wakeWriterIfReady();
    }
    return null;
  }

  /**
   * Takes the next batch, and waits for it if necessary.
   *
   * @return the batch, or null if the queue is closed and empty
   */
  @Nullable Batch take() throws InterruptedException {
    for (String node = awaitReady(); node != null; node = awaitReady()) {
      Semaphore turn = permits.awaitTurn(node);
      Batch batch = takeIfReady(turn);
      if (batch != null) {
        return batch;
      }
    }
    return null;
  }

  /** Returns the node that a batch may be written to, or null if the queue is closed and empty. */
  private synchronized @Nullable String awaitReady() throws InterruptedException {
    while (true) {
      queue.removeIf(WaitingPlant::isDone);
      if (isReady() && (writing.isEmpty() || permits.spares().availablePermits() > 0)) {
        return queue.element().shard().node();
      }
      if (closed && queue.isEmpty()) {
        return null;
      }
      wait();
    }
  }

  private synchronized @Nullable Batch takeIfReady(@Nullable Semaphore turn) {
    if (!isReady() || !(writing.isEmpty() || permits.spares().tryAcquire())) {
      Permits.endTurn(turn);
      return null;
    }
    Batch batch = new Batch(new ArrayList<>(), System.nanoTime(), turn);
    writing.add(batch);
    fill(batch.plants());
    return batch;
  }

  /** Reports that a batch has been written, or has failed. */
  synchronized void finish(Batch batch) {
    writing.remove(batch);
    if (!writing.isEmpty()) {
      permits.spares().release();
    }
    Permits.endTurn(batch.turn());
  }

  /**
   * Fails plants whose deadline has passed, drops those whose callers no longer wait, and wakes a
   * writer if the rule allows a batch, or all writers if the queue is closed.
   *
   * @return whether a plant is waiting, or one may come
   */
  boolean sweep() {
    List<Runnable> failures = new ArrayList<>();
    boolean isInUse = sweep(failures);
    // Outside the lock, because dependents of the futures run here.
    failures.forEach(Runnable::run);
    return isInUse;
  }

  private synchronized boolean sweep(List<Runnable> failures) {
    Stream.concat(queue.stream(), writing.stream().flatMap(batch -> batch.plants().stream()))
        .filter(plant -> plant.isExpired() && !plant.isDone())
        .forEach(plant -> failures.add(plant::expire));
    outage.endOverdueTrial(failures);
    if (outage.beginIfOverdue(writing)) {
      queue.stream()
          .filter(plant -> plant.shard().isDistributed())
          .forEach(plant -> failures.add(() -> plant.fail(outage.refuse())));
    }
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

  /**
   * Moves plants of one shard from the queue; each is in one of both at any time, so the sweep
   * finds it.
   */
  private void fill(List<WaitingPlant> plants) {
    WaitingPlant first = queue.element();
    long bytes = 0;
    for (Iterator<WaitingPlant> rest = queue.iterator(); rest.hasNext(); ) {
      WaitingPlant next = rest.next();
      if (next.shard().equals(first.shard())) {
        bytes += next.bytes();
        if (!plants.isEmpty()
            && (first.isSeparate()
                || next.isSeparate()
                || plants.size() == limits.plants()
                || bytes > limits.bytes())) {
          return;
        }
        plants.add(next);
        rest.remove();
      }
    }
  }

  /** Returns the number of plants waiting for a batch. */
  synchronized int waitingPlants() {
    return queue.size();
  }
}
