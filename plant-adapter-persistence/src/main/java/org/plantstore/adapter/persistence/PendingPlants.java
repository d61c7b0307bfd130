package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The plants waiting for a batch, the batches in flight, and the number of writers. While a young
 * batch is in flight, no other batch is taken, so that batches grow; a slow batch is overtaken. A
 * plant that may have caused the failure of its batch is retried alone. At most one such retry is
 * in flight, and batches do not wait for it. Safe for use by multiple threads.
 */
final class PendingPlants {

  /** A create in progress. It is completed with the stored plant. */
  static final class Call extends CompletableFuture<NewPlant> {

    final NewPlant plant;
    final int shard;
    final long began = System.nanoTime();
    private boolean isRetriedAlone;

    /** The reason why the last attempt failed, if the plant is being retried. */
    volatile @Nullable DatabaseFailure failure;

    Call(NewPlant plant, int shard) {
      this.plant = plant;
      this.shard = shard;
    }

    /** Returns an upper bound for the size of the text in bytes, in UTF-8 and in memory. */
    private long bytes() {
      String tag = plant.tag();
      return 3L * (plant.name().length() + (tag == null ? 0 : tag.length()));
    }
  }

  /** Plants of one shard that a writer took at this value of {@link System#nanoTime()}. */
  record Batch(List<Call> calls, boolean isRetriedAlone, long began) {}

  /** Larger batches make a commit hardly cheaper, and their callers wait longer. */
  static final int MAX_PLANTS = 256;

  /** Limits a batch of several plants. A larger plant forms a batch of its own. */
  static final long MAX_BYTES = 4 * 1024 * 1024;

  /** The age from which a batch in flight is overtaken, for example if it waits for a locked id. */
  private static final Duration EXCLUSIVE = Duration.ofMillis(20);

  private final Deque<Call> waiting = new ArrayDeque<>();
  private final Deque<Call> alone = new ArrayDeque<>();
  private final List<Batch> inFlight = new ArrayList<>();
  private int writers;
  private boolean lastWasAlone;

  /** Adds a call, and returns whether it is the only one waiting. */
  synchronized boolean add(Call call) {
    waiting.add(call);
    return waiting.size() == 1;
  }

  /** Counts a further writer if a batch is due and the limit permits it; returns whether it did. */
  synchronized boolean beginWriter(int maxWriters) {
    boolean begins = writers < maxWriters && (mayTakeBatch() || mayTakeAlone());
    writers += begins ? 1 : 0;
    return begins;
  }

  /** Ends a writer that has failed. Its batch remains in flight until its calls have ended. */
  synchronized void endWriter() {
    writers--;
  }

  /** Removes a writer's last batch, and returns its next one; otherwise ends the writer. */
  synchronized @Nullable Batch next(@Nullable Batch last, int maxWriters) {
    inFlight.remove(last);
    List<Call> calls = List.of();
    boolean isAlone = false;
    if (writers <= maxWriters) {
      // If slow batches occupy all other writers, fresh plants must not always take precedence.
      boolean isTurnOfAlone = writers == maxWriters && !lastWasAlone;
      isAlone = mayTakeAlone() && (isTurnOfAlone || !mayTakeBatch());
      calls = isAlone ? take(alone, 1) : mayTakeBatch() ? take(waiting, MAX_PLANTS) : calls;
    }
    if (calls.isEmpty()) {
      writers--;
      return null;
    }
    lastWasAlone = isAlone;
    Batch next = new Batch(calls, isAlone, System.nanoTime());
    inFlight.add(next);
    return next;
  }

  private boolean mayTakeBatch() {
    long now = System.nanoTime();
    return !waiting.isEmpty()
        && inFlight.stream()
            .allMatch(batch -> batch.isRetriedAlone || now - batch.began >= EXCLUSIVE.toNanos());
  }

  private boolean mayTakeAlone() {
    return !alone.isEmpty() && inFlight.stream().noneMatch(Batch::isRetriedAlone);
  }

  /** Takes the first call and the following calls for the same shard, up to the limits. */
  private static List<Call> take(Deque<Call> from, int most) {
    List<Call> calls = new ArrayList<>();
    List<Call> others = new ArrayList<>();
    long bytes = 0;
    while (!from.isEmpty() && calls.size() < most && bytes <= MAX_BYTES) {
      Call call = from.removeFirst();
      if (call.isDone()) {
        continue;
      }
      boolean isFirst = calls.isEmpty();
      boolean isOfShard = isFirst || call.shard == calls.get(0).shard;
      bytes += isOfShard ? call.bytes() : 0;
      (isOfShard && (isFirst || bytes <= MAX_BYTES) ? calls : others).add(call);
    }
    putBack(others, from);
    return calls;
  }

  private static void putBack(List<Call> calls, Deque<Call> to) {
    for (int last = calls.size() - 1; last >= 0; last--) {
      to.addFirst(calls.get(last));
    }
  }

  /** Schedules a retry of the plant alone; returns false if it has already been retried so. */
  synchronized boolean retryAlone(Call call) {
    boolean isFirst = !call.isRetriedAlone;
    call.isRetriedAlone = true;
    return isFirst && alone.add(call);
  }

  /** Moves the calls of a batch in flight to the front of the queue. */
  synchronized void repeat(Batch batch, DatabaseFailure failure) {
    inFlight.remove(batch);
    batch.calls.forEach(call -> call.failure = failure);
    putBack(batch.calls, batch.isRetriedAlone ? alone : waiting);
  }

  /** Forgets calls that have ended, and returns those that have lasted this long. */
  synchronized List<Call> overdue(Duration timeout) {
    long latest = System.nanoTime() - timeout.toNanos();
    waiting.removeIf(Call::isDone);
    alone.removeIf(Call::isDone);
    // Removes batches whose writers have failed.
    inFlight.removeIf(batch -> batch.calls.stream().allMatch(Call::isDone));
    return calls().filter(call -> call.began - latest <= 0).toList();
  }

  /** Returns all calls except this number of the oldest. */
  synchronized List<Call> beyond(int most) {
    return calls().sorted(Comparator.comparingLong(call -> call.began)).skip(most).toList();
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
