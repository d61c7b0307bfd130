package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * The plants that wait for a batch, and the batches in flight. A writer takes a batch when plants
 * wait, unless a batch taken less than 20 ms ago is still in flight. So batches are usually written
 * one at a time, which makes them large, but a slow batch does not delay the next. Safe for use by
 * many threads.
 */
@SuppressWarnings("UndefinedEquals") // a call is the same if its future is the same object
final class BatchQueue {

  /** A batch in flight, with the {@link System#nanoTime()} at which a writer took it. */
  record Batch(List<WaitingPlant> plants, long began) {}

  /** Larger batches make a commit hardly cheaper, and its callers wait longer. */
  static final int MAX_PLANTS = 256;

  /** The maximum of a batch of several plants. A larger plant is a batch of its own. */
  static final long MAX_BYTES = 4 * 1024 * 1024;

  private static final Duration EXCLUSIVE = Duration.ofMillis(20);

  /** The last attempt of each call, in the order of the calls and so of their deadlines. */
  private final Map<CompletableFuture<NewPlant>, WaitingPlant> calls = new LinkedHashMap<>();

  private final Deque<WaitingPlant> waiting = new ArrayDeque<>();
  private final Queue<WaitingPlant> pausing = new ArrayDeque<>();
  private final Deque<Batch> inFlight = new ArrayDeque<>();
  private boolean isClosed;

  /** Adds a call at the end, or fails it if the queue is closed. */
  void add(WaitingPlant plant) {
    synchronized (this) {
      if (!isClosed) {
        calls.put(plant.stored(), plant);
        waiting.add(plant);
        // A plant behind others wakes nobody: a writer that finishes, or the sweep, finds it.
        if (waiting.size() == 1 && isReady()) {
          notify();
        }
        return;
      }
    }
    plant.stored().completeExceptionally(new PlantStoreUnavailableException("the store is closed"));
  }

  /** Adds the next attempt after a failure, unless the call was removed. A sweep ends its pause. */
  synchronized void retry(WaitingPlant plant, BatchFailure cause) {
    WaitingPlant next = plant.after(cause);
    if (calls.replace(plant.stored(), next) != null) {
      pausing.add(next);
    }
  }

  /** Waits until a batch can be taken; returns false if the queue is terminated. */
  synchronized boolean awaitReady() throws InterruptedException {
    while (!isReady() && !isTerminated()) {
      wait();
    }
    return !isTerminated();
  }

  private boolean isReady() {
    while (!waiting.isEmpty() && waiting.getFirst().stored().isDone()) {
      waiting.removeFirst();
    }
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
      if (next.stored().isDone()) {
        rest.remove();
      } else if (next.group() == first.group()) {
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

  /** Removes a batch that was written or has failed, and its calls that have ended. */
  synchronized void finish(Batch batch) {
    inFlight.remove(batch);
    for (WaitingPlant plant : batch.plants) {
      if (plant.stored().isDone()) {
        calls.remove(plant.stored());
      }
    }
  }

  /**
   * Ends pauses, wakes writers if they can take a batch or have to end, and returns the calls that
   * have taken longer than the time-out. Each sweep returns such a call until it has ended.
   */
  synchronized List<WaitingPlant> sweep(Duration timeout) {
    long now = System.nanoTime();
    pausing.removeIf(plant -> now - plant.mayBegin() >= 0 && waiting.add(plant));
    List<WaitingPlant> overdue = new ArrayList<>();
    Iterator<WaitingPlant> oldest = calls.values().iterator();
    while (oldest.hasNext()) {
      WaitingPlant call = oldest.next();
      if (call.stored().isDone()) {
        oldest.remove();
      } else if (now - call.called() >= timeout.toNanos()) {
        overdue.add(call);
      } else {
        break;
      }
    }
    if (isClosed) {
      notifyAll(); // one may have to write the last plants, the others to end
    } else if (isReady()) {
      notify();
    }
    return overdue;
  }

  /** Refuses further plants. Writers end at once, or after the sweep that finds no caller. */
  synchronized void close() {
    isClosed = true;
    notifyAll();
  }

  /** Returns whether the queue is closed, and no caller waits. */
  synchronized boolean isTerminated() {
    return isClosed && calls.keySet().stream().allMatch(CompletableFuture::isDone);
  }

  /** Returns the number of plants waiting for a batch. */
  synchronized int waitingPlants() {
    return waiting.size();
  }
}
