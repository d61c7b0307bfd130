package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The plants that wait for a batch, and the batches in flight. A batch is alone in flight for its
 * first 20 ms, so that batches are large, but a slow one does not delay the next. A plant that may
 * have made its batch fail is tried alone. One such attempt is in flight at a time, so that batches
 * go on beside it. Safe for use by many threads.
 */
final class PendingPlants {

  /** A call in progress, which is completed with the stored plant. */
  static final class Call extends CompletableFuture<NewPlant> {

    final NewPlant plant;
    final long began = System.nanoTime();
    private boolean isAlone;

    /** The failure of the last attempt, if others follow. */
    volatile @Nullable DatabaseFailure failure;

    Call(NewPlant plant) {
      this.plant = plant;
    }

    /** Returns an upper bound for the text in bytes, in UTF-8 and in memory. */
    private long bytes() {
      String tag = plant.tag();
      return 3L * (plant.name().length() + (tag == null ? 0 : tag.length()));
    }
  }

  /** A batch that a writer took at a value of {@link System#nanoTime()}. */
  record Batch(List<Call> calls, boolean isAlone, long began) {}

  /** Larger batches make a commit hardly cheaper, and its callers wait longer. */
  static final int MAX_PLANTS = 256;

  /** The maximum of a batch of several plants. A larger plant is a batch of its own. */
  static final long MAX_BYTES = 4 * 1024 * 1024;

  private static final Duration EXCLUSIVE = Duration.ofMillis(20);

  private final Deque<Call> waiting = new ArrayDeque<>();
  private final Deque<Call> alone = new ArrayDeque<>();
  private final List<Batch> inFlight = new ArrayList<>();
  private int writers;
  private boolean wasAlone; // the last batch that was taken

  /** Adds a call, and returns whether it is the only one waiting. */
  synchronized boolean add(Call call) {
    waiting.add(call);
    return waiting.size() == 1;
  }

  /** Counts a further writer if there is a batch for it, and returns whether there is. */
  synchronized boolean beginWriter() {
    boolean begins = writers < PostgresPlantStore.WRITERS && (mayTakeBatch() || mayTakeAlone());
    writers += begins ? 1 : 0;
    return begins;
  }

  /** Ends a writer, and its last batch unless that has failed. */
  synchronized void endWriter(@Nullable Batch last) {
    inFlight.remove(last);
    writers--;
  }

  /** Removes the last batch of a writer, and returns its next one, or ends the writer. */
  synchronized @Nullable Batch next(@Nullable Batch last) {
    inFlight.remove(last);
    // While slow batches occupy all other writers, fresh plants must not always go first.
    boolean isTurnOfAlone = inFlight.size() == PostgresPlantStore.WRITERS - 1 && !wasAlone;
    boolean isAlone = mayTakeAlone() && (isTurnOfAlone || !mayTakeBatch());
    List<Call> calls =
        isAlone ? take(alone, 1) : mayTakeBatch() ? take(waiting, MAX_PLANTS) : List.of();
    if (calls.isEmpty()) {
      writers--;
      return null;
    }
    wasAlone = isAlone;
    Batch next = new Batch(calls, isAlone, System.nanoTime());
    inFlight.add(next);
    return next;
  }

  private boolean mayTakeBatch() {
    long now = System.nanoTime();
    return !waiting.isEmpty()
        && inFlight.stream()
            .allMatch(batch -> batch.isAlone || now - batch.began >= EXCLUSIVE.toNanos());
  }

  private boolean mayTakeAlone() {
    return !alone.isEmpty() && inFlight.stream().noneMatch(Batch::isAlone);
  }

  private static List<Call> take(Deque<Call> from, int most) {
    List<Call> calls = new ArrayList<>();
    long bytes = 0;
    while (!from.isEmpty() && calls.size() < most) {
      Call call = from.getFirst();
      if (!call.isDone()) {
        bytes += call.bytes();
        if (bytes > MAX_BYTES && !calls.isEmpty()) {
          break;
        }
        calls.add(call);
      }
      from.removeFirst();
    }
    return calls;
  }

  /** Lets a call be tried alone; returns false if it already was. */
  synchronized boolean tryAlone(Call call) {
    boolean isFirst = !call.isAlone;
    call.isAlone = true;
    return isFirst && alone.add(call);
  }

  /** Lets the calls of a batch be tried together again, before others. */
  synchronized void repeat(Batch batch, DatabaseFailure failure) {
    for (int last = batch.calls.size() - 1; last >= 0; last--) {
      Call call = batch.calls.get(last);
      call.failure = failure;
      (batch.isAlone ? alone : waiting).addFirst(call);
    }
  }

  /** Forgets what has ended, and returns the calls that began so long ago. */
  synchronized List<Call> overdue(Duration timeout) {
    long latest = System.nanoTime() - timeout.toNanos();
    waiting.removeIf(Call::isDone);
    alone.removeIf(Call::isDone);
    // Those of writers that have failed.
    inFlight.removeIf(batch -> batch.calls.stream().allMatch(Call::isDone));
    return calls().filter(call -> call.began - latest <= 0).toList();
  }

  /** Returns all calls except this number of the oldest. */
  synchronized List<Call> beyond(int most) {
    return calls().skip(most).toList();
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

  /** Returns the number of plants whose callers wait. */
  synchronized int size() {
    return (int) calls().count();
  }
}
