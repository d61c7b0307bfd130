package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The plants that are waiting for a batch, the batches in flight, and the number of writers. Each
 * writer writes one batch after another. While a batch is in flight, the next batch waits for up to
 * 20 ms, so that more plants can join it. A plant that may have caused its batch to fail is retried
 * on its own. Such a retry begins only after the previous retry has ended or has passed its
 * deadline. Batches do not wait for these retries. This class is thread-safe.
 */
final class PendingPlants {

  /** A call in progress, which completes with the plant that is stored under the id. */
  static final class Call extends CompletableFuture<NewPlant> {

    final NewPlant plant;
    final int shard;
    final long began = System.nanoTime();
    private boolean isRetriedAlone;

    /** The failure of the last attempt if the plant's batch is being retried, otherwise null. */
    volatile @Nullable DatabaseFailure failure;

    Call(NewPlant plant, int shard) {
      this.plant = plant;
      this.shard = shard;
    }

    /** Returns an upper bound on the plant's size in bytes, both in UTF-8 and in memory. */
    private long bytes() {
      String tag = plant.tag();
      return 3L * (plant.name().length() + (tag == null ? 0 : tag.length()));
    }
  }

  /** The calls for one shard, and the {@link System#nanoTime} at which a writer took the calls. */
  record Batch(List<Call> calls, boolean isRetriedAlone, long began) {}

  /** The maximum number of plants in a batch. Larger batches are hardly more efficient. */
  static final int MAX_PLANTS = 256;

  /** The maximum size of a batch in bytes. A larger plant forms its own batch. */
  static final long MAX_BYTES = 4 * 1024 * 1024;

  /** The longest time that a batch can delay the next one, even if it waits for a locked row. */
  private static final Duration MAX_DELAY = Duration.ofMillis(20);

  private final Deque<Call> waiting = new ArrayDeque<>();
  private final Deque<Call> alone = new ArrayDeque<>();
  private final List<Batch> inFlight = new ArrayList<>();
  private int writers;
  private boolean lastWasAlone;

  /** Adds a call, and returns whether it is the only call waiting for a batch. */
  synchronized boolean add(Call call) {
    waiting.add(call);
    return waiting.size() == 1;
  }

  /** If a batch is due and the limit permits another writer, adds a writer and returns true. */
  synchronized boolean beginWriter(int maxWriters) {
    boolean begins = writers < maxWriters && (mayTakeBatch() || mayTakeAlone());
    writers += begins ? 1 : 0;
    return begins;
  }

  /** Removes a failed writer. The writer's batch remains in flight until its calls are complete. */
  synchronized void endWriter() {
    writers--;
  }

  /** Replaces a writer's last batch with its next batch. Removes the writer if no batch is due. */
  synchronized @Nullable Batch next(@Nullable Batch last, int maxWriters) {
    inFlight.remove(last);
    // While the maximum number of writers is running, retries and new plants take turns.
    boolean prefersRetry = writers == maxWriters && !lastWasAlone;
    boolean isBatchDue = mayTakeBatch();
    boolean isAlone = mayTakeAlone() && (prefersRetry || !isBatchDue);
    if (writers <= maxWriters && (isAlone || isBatchDue)) {
      Batch next = new Batch(new ArrayList<>(), isAlone, System.nanoTime());
      inFlight.add(next);
      move(isAlone ? alone : waiting, next);
      if (!next.calls.isEmpty()) {
        lastWasAlone = isAlone;
        return next;
      }
      inFlight.remove(next);
    }
    writers--;
    return null;
  }

  private boolean mayTakeBatch() {
    long now = System.nanoTime();
    return !waiting.isEmpty()
        && inFlight.stream()
            .allMatch(batch -> batch.isRetriedAlone || now - batch.began >= MAX_DELAY.toNanos());
  }

  private boolean mayTakeAlone() {
    return !alone.isEmpty() && inFlight.stream().noneMatch(Batch::isRetriedAlone);
  }

  /**
   * Fills a batch, up to its limits, with the first call in the queue and other calls for the same
   * shard. Each call is added to the batch before it is removed from its queue, so that no call is
   * lost if memory runs out.
   */
  private static void move(Deque<Call> queue, Batch batch) {
    int max = batch.isRetriedAlone ? 1 : MAX_PLANTS;
    long bytes = 0;
    Iterator<Call> queued = queue.iterator();
    while (queued.hasNext() && batch.calls.size() < max && bytes <= MAX_BYTES) {
      Call call = queued.next();
      boolean isFirst = batch.calls.isEmpty();
      if (call.isDone()) {
        queued.remove();
      } else if (isFirst || call.shard == batch.calls.get(0).shard) {
        bytes += call.bytes();
        if (isFirst || bytes <= MAX_BYTES) {
          batch.calls.add(call);
          queued.remove();
        }
      }
    }
  }

  /**
   * Schedules a separate retry of the plant. If the plant has already been retried separately,
   * returns false instead.
   */
  synchronized boolean retryAlone(Call call) {
    boolean isFirst = !call.isRetriedAlone;
    call.isRetriedAlone = true;
    return isFirst && alone.add(call);
  }

  /** Moves the calls in a failed batch back to the front of their queue. */
  synchronized void retryBatch(Batch batch, DatabaseFailure failure) {
    Deque<Call> queue = batch.isRetriedAlone ? alone : waiting;
    for (int last = batch.calls.size() - 1; last >= 0; last--) {
      batch.calls.get(last).failure = failure;
      queue.addFirst(batch.calls.get(last));
    }
    inFlight.remove(batch); // only now, so that no call is lost if memory runs out
  }

  /** Removes completed calls, and returns the calls whose timeout has expired. */
  synchronized List<Call> overdue(Duration timeout) {
    long latest = System.nanoTime() - timeout.toNanos();
    waiting.removeIf(Call::isDone);
    alone.removeIf(Call::isDone);
    // Removes the batches whose writers have failed or are not responding.
    inFlight.removeIf(batch -> batch.calls.stream().allMatch(Call::isDone));
    return calls().filter(call -> call.began - latest <= 0).toList();
  }

  /** Returns all but the oldest {@code max} calls. */
  synchronized List<Call> beyond(int max) {
    return calls().sorted(Comparator.comparingLong(call -> call.began)).skip(max).toList();
  }

  private Stream<Call> calls() {
    Stream<Call> callsInFlight = inFlight.stream().flatMap(batch -> batch.calls.stream());
    return Stream.of(callsInFlight, alone.stream(), waiting.stream())
        .flatMap(calls -> calls)
        .filter(call -> !call.isDone());
  }

  /** Returns the number of plants waiting for a batch. */
  synchronized int waiting() {
    return waiting.size() + alone.size();
  }

  /** Returns the number of plants whose callers are waiting. */
  synchronized int size() {
    return (int) calls().count();
  }
}
