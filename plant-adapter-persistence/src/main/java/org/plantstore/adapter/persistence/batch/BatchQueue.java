package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * The plants that wait for a batch, and the batches in flight. A writer takes a batch when plants
 * wait and no batch in flight has started within the last 20 ms. So batches are usually written one
 * at a time, which makes them large, but a slow batch does not delay the next. Safe for use by many
 * threads.
 */
final class BatchQueue {

  /**
   * An attempt to store a plant whose caller is waiting. All attempts of a call complete the same
   * future.
   *
   * @param called when the call began, as a value of {@link System#nanoTime()}
   * @param queued the end of this attempt's back-off, as a value of {@link System#nanoTime()}
   * @param failure the failure of the previous attempt, or null if this is the first
   */
  record WaitingPlant(
      NewPlant plant,
      int shard,
      CompletableFuture<NewPlant> stored,
      long called,
      long queued,
      @Nullable BatchFailure failure) {

    /** Returns an upper bound for the text in bytes, in UTF-8 and in memory. */
    private long bytes() {
      String tag = plant.tag();
      return 3L * (plant.name().length() + (tag == null ? 0 : tag.length()));
    }

    /** Returns whether the caller no longer waits. */
    boolean isDone() {
      return stored.isDone();
    }

    /** Returns whether the plant gets a batch of its own, because its last batch failed. */
    private boolean isSeparate() {
      return failure != null && failure.retry() != BatchFailure.Retry.BATCH;
    }

    /**
     * Returns whether a retry can help. After a retry in a batch of its own, a plant is retried
     * only if the failure is transient, such as a lock on its id.
     */
    boolean isRetriableAfter(BatchFailure cause) {
      return cause.retry() != BatchFailure.Retry.NEVER && (cause.isTransient() || !isSeparate());
    }

    WaitingPlant retry(BatchFailure cause) {
      long backOff = cause.retry() == BatchFailure.Retry.NODE_DOWN ? BACK_OFF.toNanos() : 0;
      return new WaitingPlant(plant, shard, stored, called, System.nanoTime() + backOff, cause);
    }
  }

  /**
   * A batch in flight.
   *
   * @param began when a writer took the batch, as a value of {@link System#nanoTime()}
   */
  record Batch(List<WaitingPlant> plants, long began) {}

  /** Larger batches make a commit hardly cheaper, and its callers wait longer. */
  static final int MAX_PLANTS = 256;

  /** The maximum of a batch of several plants. A larger plant is a batch of its own. */
  static final long MAX_BYTES = 4 * 1024 * 1024;

  private static final Duration EXCLUSIVE = Duration.ofMillis(20);
  private static final Duration BACK_OFF = Duration.ofMillis(100);

  private final Queue<WaitingPlant> waiting = new ArrayDeque<>();
  private final Queue<WaitingPlant> backingOff = new ArrayDeque<>();
  private final Deque<Batch> inFlight = new ArrayDeque<>();
  private boolean isClosed;

  /** Adds a plant at the end, or fails it if the queue is closed. */
  void add(WaitingPlant plant) {
    synchronized (this) {
      if (!isClosed) {
        waiting.add(plant);
        // Later plants need no wake-up here: a finishing writer or the sweep finds them.
        if (waiting.size() == 1 && isReady()) {
          notify();
        }
        return;
      }
    }
    plant.stored.completeExceptionally(new PlantStoreUnavailableException("the queue is closed"));
  }

  /** Adds the next attempt after a failure. Sweeps end the back-off. */
  synchronized void retry(WaitingPlant plant, BatchFailure cause) {
    backingOff.add(plant.retry(cause));
  }

  /** Waits until a batch can be taken; returns false if the queue is terminated. */
  synchronized boolean awaitReady() throws InterruptedException {
    while (!isTerminated()) {
      waiting.removeIf(WaitingPlant::isDone);
      if (isReady()) {
        return true;
      }
      wait();
    }
    return false;
  }

  private boolean isReady() {
    return !waiting.isEmpty()
        && (inFlight.isEmpty()
            || System.nanoTime() - inFlight.getLast().began >= EXCLUSIVE.toNanos());
  }

  /** Takes as many plants as a batch may have, or returns null if none may be taken now. */
  synchronized @Nullable Batch takeIfReady() {
    if (!isReady()) {
      return null;
    }
    WaitingPlant first = waiting.remove();
    Batch batch = new Batch(new ArrayList<>(), System.nanoTime());
    batch.plants.add(first);
    inFlight.add(batch);
    long bytes = first.bytes();
    Iterator<WaitingPlant> rest = waiting.iterator();
    while (rest.hasNext() && !first.isSeparate() && batch.plants.size() < MAX_PLANTS) {
      WaitingPlant next = rest.next();
      if (next.shard == first.shard) {
        bytes += next.bytes();
        if (next.isSeparate() || bytes > MAX_BYTES) {
          break;
        }
        batch.plants.add(next);
        rest.remove();
      }
    }
    return batch;
  }

  /** Removes a batch that was written or has failed. */
  synchronized void finish(Batch batch) {
    inFlight.remove(batch);
  }

  /**
   * Ends back-offs, drops plants whose callers no longer wait, wakes writers if they can take a
   * batch or have to end, and returns the plants whose calls have taken longer than the time-out.
   */
  synchronized List<WaitingPlant> sweep(Duration timeout) {
    long now = System.nanoTime();
    backingOff.removeIf(plant -> now - plant.queued >= 0 && waiting.add(plant));
    waiting.removeIf(WaitingPlant::isDone);
    if (isClosed) {
      notifyAll(); // one writer takes the last plant, and all have to end
    } else if (isReady()) {
      notify();
    }
    return plants()
        .filter(plant -> !plant.isDone() && now - plant.called >= timeout.toNanos())
        .toList();
  }

  /** Refuses further plants; the last sweep ends the writers. */
  synchronized void close() {
    isClosed = true;
  }

  /** Returns whether the queue is closed, and no caller waits. */
  synchronized boolean isTerminated() {
    return isClosed && plants().allMatch(WaitingPlant::isDone);
  }

  private Stream<WaitingPlant> plants() {
    Stream<WaitingPlant> taken = inFlight.stream().flatMap(each -> each.plants.stream());
    return Stream.of(waiting.stream(), backingOff.stream(), taken).flatMap(each -> each);
  }

  /** Returns the number of plants waiting for a batch. */
  synchronized int waitingPlants() {
    return waiting.size();
  }
}
