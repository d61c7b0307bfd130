package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.DatabaseFailure.Retry;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the plants of concurrent callers in batches, because a commit costs about the same for one
 * plant as for hundreds. The plants that arrive while a batch is in flight are the next batch: no
 * plant waits for others to arrive. A batch is alone in flight for its first 20 ms, so that batches
 * are large, but a slow one does not delay the next. Safe for use by many threads.
 */
class GroupCommit {

  /** Writes a batch. */
  interface Table {

    /**
     * Stores each plant whose id is free, durably, and returns the rows of all ids.
     *
     * @param isRetry whether this is a single plant whose last batch failed, perhaps because of it
     * @throws DatabaseFailure if it is unknown which plants are stored
     */
    Rows putIfAbsent(SortedMap<Long, NewPlant> plants, boolean isRetry) throws DatabaseFailure;
  }

  /** The plants that are stored, and the ids whose rows are no plants. Other ids have no row. */
  record Rows(Map<Long, NewPlant> plants, Set<Long> others) {}

  /** A call in progress, which is completed with the stored plant. */
  private static final class Call extends CompletableFuture<NewPlant> {

    final NewPlant plant;
    final long began = System.nanoTime();

    /** Whether the plant is tried alone, because it may have made its last batch fail. */
    boolean isAlone;

    /** The failure of the last attempt, if others follow. */
    volatile @Nullable DatabaseFailure failure;

    Call(NewPlant plant) {
      this.plant = plant;
    }

    /** Returns an upper bound for the text in bytes, in UTF-8 and in memory. */
    long bytes() {
      String tag = plant.tag();
      return 3L * (plant.name().length() + (tag == null ? 0 : tag.length()));
    }
  }

  private record Batch(List<Call> calls, boolean isAlone, long began) {}

  /** Larger batches make a commit hardly cheaper, and its callers wait longer. */
  static final int MAX_PLANTS = 256;

  /** The maximum of a batch of several plants. A larger plant is a batch of its own. */
  static final long MAX_BYTES = 4 * 1024 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);
  private static final Duration EXCLUSIVE = Duration.ofMillis(20);

  /** The time before a batch is repeated, in which a server may come back. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Table table;
  private final Executor executor;
  private final int maxWriters;
  private final Duration timeout;
  private final StoreMetrics metrics;

  /** New calls, and those of batches that are repeated, nearly in the order of their deadlines. */
  private final Deque<Call> waiting = new ArrayDeque<>();

  /** Calls that are tried alone, one at a time, when no batch can be taken. */
  private final Deque<Call> alone = new ArrayDeque<>();

  private final Set<Batch> inFlight = Collections.newSetFromMap(new IdentityHashMap<>());
  private int writers;
  private boolean isClosed;

  /**
   * Creates a group commit. Its writers run only while there are batches.
   *
   * @param executor runs the writers, or rejects one, which the next sweep submits again
   * @param maxWriters the most batches in flight
   * @param timeout how long callers wait
   */
  GroupCommit(
      Table table, Executor executor, int maxWriters, Duration timeout, StoreMetrics metrics) {
    this.table = table;
    this.executor = executor;
    this.maxWriters = maxWriters;
    this.timeout = timeout;
    this.metrics = metrics;
  }

  /**
   * Stores the plant if its id is free. Dependents of the future must not block. A plant whose
   * future is cancelled is not written, unless its batch is in flight.
   *
   * @return the plant that has the id. Fails with PlantStoreUnavailableException at the deadline or
   *     after {@link #close()}, and with IllegalStateException if the database refuses the plant
   */
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    Call call = new Call(plant);
    synchronized (this) {
      if (!isClosed) {
        waiting.add(call);
        // A call behind others is found by a writer that finishes, or by the sweep.
        if (waiting.size() == 1) {
          startWriter();
        }
        return call;
      }
    }
    call.completeExceptionally(new PlantStoreUnavailableException("the store is closed"));
    return call;
  }

  private void startWriter() {
    if (writers < maxWriters && (mayTakeBatch() || mayTakeAlone())) {
      try {
        executor.execute(this::write);
        writers++;
      } catch (RejectedExecutionException e) {
        LOG.debug("A writer is started later", e);
      }
    }
  }

  /** Writes batches as long as there are any. */
  private void write() {
    try {
      for (Batch batch = next(null); batch != null; batch = next(batch)) {
        write(batch);
      }
    } catch (RuntimeException | Error e) {
      synchronized (this) {
        writers--; // the sweep starts another, and ends the calls of the batch
      }
      LOG.error("A writer of plants has failed, and is replaced", e);
    }
  }

  /** Removes the last batch of a writer, and takes the next one, or ends the writer. */
  private synchronized @Nullable Batch next(@Nullable Batch last) {
    inFlight.remove(last);
    Batch next = null;
    if (mayTakeBatch()) {
      next = new Batch(takeCalls(), false, System.nanoTime());
    } else if (mayTakeAlone()) {
      next = new Batch(List.of(alone.remove()), true, System.nanoTime());
    }
    if (next == null) {
      writers--;
    } else {
      inFlight.add(next);
    }
    return next;
  }

  private boolean mayTakeBatch() {
    removeEnded(waiting);
    long now = System.nanoTime();
    return !waiting.isEmpty()
        && inFlight.stream()
            .allMatch(batch -> batch.isAlone || now - batch.began >= EXCLUSIVE.toNanos());
  }

  private boolean mayTakeAlone() {
    removeEnded(alone);
    return !alone.isEmpty() && inFlight.stream().noneMatch(Batch::isAlone);
  }

  private static void removeEnded(Deque<Call> calls) {
    while (!calls.isEmpty() && calls.getFirst().isDone()) {
      calls.removeFirst();
    }
  }

  private List<Call> takeCalls() {
    List<Call> calls = new ArrayList<>();
    long bytes = 0;
    while (!waiting.isEmpty() && calls.size() < MAX_PLANTS) {
      Call call = waiting.getFirst();
      bytes += call.bytes();
      if (bytes > MAX_BYTES && !calls.isEmpty()) {
        break;
      }
      calls.add(call);
      waiting.removeFirst();
      removeEnded(waiting);
    }
    return calls;
  }

  private void write(Batch batch) {
    try {
      Rows rows = store(batch);
      batch.calls.forEach(call -> answer(call, rows));
    } catch (DatabaseFailure failure) {
      // The batch may have been committed; the retry then finds its plants.
      if (failure.retry() == Retry.BATCH) {
        repeat(batch, failure);
      } else if (failure.retry() == Retry.ALONE && !batch.isAlone) {
        batch.calls.forEach(this::tryAlone);
      } else {
        batch.calls.forEach(call -> call.completeExceptionally(failure.asReason()));
      }
    } catch (RuntimeException | Error e) {
      for (Call call : batch.calls) {
        IllegalStateException bug = new IllegalStateException("a batch failed: " + e);
        bug.setStackTrace(e.getStackTrace());
        call.completeExceptionally(bug);
      }
    }
  }

  private Rows store(Batch batch) throws DatabaseFailure {
    // Of two plants with one id the first is stored; both callers get the stored plant.
    SortedMap<Long, NewPlant> plants = new TreeMap<>();
    long nanosWaited = 0;
    for (Call call : batch.calls) {
      nanosWaited += batch.began - call.began;
      plants.putIfAbsent(call.plant.id(), call.plant);
    }
    boolean isStored = false;
    try {
      Rows rows = table.putIfAbsent(plants, batch.isAlone);
      isStored = true;
      return rows;
    } finally {
      Duration commit = Duration.ofNanos(System.nanoTime() - batch.began);
      metrics.record(batch.calls.size(), Duration.ofNanos(nanosWaited), commit, isStored);
    }
  }

  private void answer(Call call, Rows rows) {
    long id = call.plant.id();
    NewPlant stored = rows.plants.get(id);
    if (stored != null) {
      call.complete(stored);
    } else if (rows.others.contains(id)) {
      String fault = "the row with the id " + id + " in the table plant is no plant";
      call.completeExceptionally(new IllegalStateException(fault));
    } else if (call.isAlone) {
      String fault = "the plant that has the id cannot be read";
      call.completeExceptionally(new PlantStoreUnavailableException(fault));
    } else {
      tryAlone(call); // the row was deleted in between, or is hidden from this account
    }
  }

  private synchronized void tryAlone(Call call) {
    call.isAlone = true;
    alone.add(call);
  }

  private void repeat(Batch batch, DatabaseFailure failure) {
    LockSupport.parkNanos(PAUSE.toNanos());
    synchronized (this) {
      for (int last = batch.calls.size() - 1; last >= 0; last--) {
        Call call = batch.calls.get(last);
        call.failure = failure;
        (batch.isAlone ? alone : waiting).addFirst(call);
      }
    }
  }

  /** Ends calls that are past their deadline, and starts a writer that is due. */
  void sweep() {
    overdueCalls().forEach(GroupCommit::end); // without the lock, because dependents run
    synchronized (this) {
      // Those of writers that have failed.
      inFlight.removeIf(batch -> batch.calls.stream().allMatch(Call::isDone));
      startWriter();
    }
  }

  private synchronized List<Call> overdueCalls() {
    long latest = System.nanoTime() - timeout.toNanos();
    removeEnded(waiting);
    removeEnded(alone);
    return Stream.concat(
            waiting.stream().takeWhile(call -> call.began - latest <= 0),
            Stream.concat(alone.stream(), callsInFlight()))
        .filter(call -> call.began - latest <= 0 && !call.isDone())
        .toList();
  }

  private static void end(Call overdue) {
    DatabaseFailure failure = overdue.failure;
    overdue.completeExceptionally(
        failure == null
            ? new PlantStoreUnavailableException("the database has not answered in time")
            : failure.asReason());
  }

  private Stream<Call> callsInFlight() {
    return inFlight.stream().flatMap(batch -> batch.calls.stream());
  }

  /** Returns the number of plants waiting for a batch. */
  synchronized int waitingPlants() {
    return waiting.size() + alone.size();
  }

  /** Returns the number of plants whose callers wait. */
  synchronized int plants() {
    return waitingPlants() + (int) callsInFlight().filter(call -> !call.isDone()).count();
  }

  synchronized int writers() {
    return writers;
  }

  /** Refuses further plants. Those that wait are still written, or ended by sweeps. */
  synchronized void close() {
    isClosed = true;
  }
}
