package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.DatabaseFailure.Retry;
import org.plantstore.adapter.persistence.PendingPlants.Batch;
import org.plantstore.adapter.persistence.PendingPlants.Call;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the plants of concurrent callers in batches, because a commit costs about the same for one
 * plant as for hundreds. The plants that arrive while a batch is in flight are the next batch: no
 * plant waits for others to arrive. Safe for use by many threads.
 */
class GroupCommit {

  /** Writes a batch. */
  interface Table {

    /**
     * Stores each plant whose id is free, durably.
     *
     * @param isRetry whether this is a single plant that may have made its last batch fail
     * @return the plants that the ids have afterwards; null for a row that is no plant
     * @throws DatabaseFailure if it is unknown which plants are stored
     */
    Map<Long, @Nullable NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants, boolean isRetry)
        throws DatabaseFailure;
  }

  private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

  /** The time before a batch is repeated, in which a server may come back. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  final Table table;
  final Executor executor;
  final Duration timeout;
  final StoreMetrics metrics;
  private final boolean isShared;
  private final PendingPlants pending = new PendingPlants();

  /**
   * Creates a group commit. Its writers run only while there are batches.
   *
   * @param executor runs the writers, or rejects one, which the next sweep submits again
   * @param isShared whether other queues use the executor, so that a writer ends after a batch
   * @param timeout how long callers wait
   */
  GroupCommit(
      Table table, Executor executor, boolean isShared, Duration timeout, StoreMetrics metrics) {
    this.table = table;
    this.executor = executor;
    this.timeout = timeout;
    this.metrics = metrics;
    this.isShared = isShared;
  }

  /**
   * Stores the plant if its id is free. Dependents of the future must not block. A plant whose
   * future is cancelled is not written, unless its batch is in flight.
   *
   * @return the plant that has the id. Fails with PlantStoreUnavailableException at the deadline,
   *     and with IllegalStateException if the database refuses the plant
   */
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    Call call = new Call(plant);
    // A call behind others is found by a writer that finishes, or by the sweep.
    if (pending.add(call)) {
      startWriterIfReady();
    }
    return call;
  }

  private void startWriterIfReady() {
    if (pending.beginWriter()) {
      try {
        executor.execute(this::write);
      } catch (RejectedExecutionException | Error e) {
        pending.endWriter(null);
        LOG.debug("A writer is started by the next sweep", e);
      }
    }
  }

  /** Writes batches as long as there are any, or one if queues share the executor. */
  private void write() {
    try {
      for (Batch batch = pending.next(null); batch != null; batch = pending.next(batch)) {
        write(batch);
        if (isShared) {
          pending.endWriter(batch);
          startWriterIfReady();
          return;
        }
      }
    } catch (RuntimeException | Error e) {
      pending.endWriter(null); // the sweep starts another, and ends the calls of the batch
      LOG.error("A writer of plants has failed, and is replaced", e);
    }
  }

  private void write(Batch batch) {
    try {
      Map<Long, @Nullable NewPlant> rows = store(batch);
      batch.calls().forEach(call -> answer(call, rows));
    } catch (DatabaseFailure failure) {
      retry(batch, failure);
    } catch (RuntimeException | Error e) {
      for (Call call : batch.calls()) {
        IllegalStateException bug = new IllegalStateException("a batch failed: " + e);
        bug.setStackTrace(e.getStackTrace());
        call.completeExceptionally(bug);
      }
    }
  }

  private Map<Long, @Nullable NewPlant> store(Batch batch) throws DatabaseFailure {
    // Of two plants with one id the first is stored; both callers get the stored plant.
    SortedMap<Long, NewPlant> plants = new TreeMap<>();
    batch.calls().forEach(call -> plants.putIfAbsent(call.plant.id(), call.plant));
    boolean isStored = false;
    try {
      Map<Long, @Nullable NewPlant> rows = table.putIfAbsent(plants, batch.isAlone());
      isStored = true;
      return rows;
    } finally {
      metrics.record(batch, isStored);
    }
  }

  private void answer(Call call, Map<Long, @Nullable NewPlant> rows) {
    long id = call.plant.id();
    NewPlant stored = rows.get(id);
    if (stored != null) {
      call.complete(stored);
    } else if (rows.containsKey(id)) {
      String fault = "the row with the id " + id + " in the table plant is no plant";
      call.completeExceptionally(new IllegalStateException(fault));
    } else if (!pending.tryAlone(call)) {
      // The row was deleted in between, or is hidden from this account.
      String fault = "the plant that has the id cannot be read";
      call.completeExceptionally(new PlantStoreUnavailableException(fault));
    }
  }

  /** Decides which plants are tried again. Those that were committed are then found. */
  private void retry(Batch batch, DatabaseFailure failure) {
    if (failure.retry() == Retry.BATCH) {
      LockSupport.parkNanos(PAUSE.toNanos());
      pending.repeat(batch, failure);
      return;
    }
    for (Call call : batch.calls()) {
      if (failure.retry() == Retry.NEVER || !pending.tryAlone(call)) {
        call.completeExceptionally(failure.asReason());
      }
    }
  }

  /** Ends calls that are past their deadline, and starts a writer that is due. */
  void sweep() {
    end(pending.overdue(timeout), "the database has not answered in time");
    startWriterIfReady();
  }

  /** Ends all calls except this number of the oldest. */
  void limit(int most) {
    end(pending.beyond(most), "the server does not respond, and enough plants wait for it");
  }

  private static void end(List<Call> calls, String reason) {
    for (Call call : calls) {
      DatabaseFailure failure = call.failure;
      call.completeExceptionally(
          failure == null ? new PlantStoreUnavailableException(reason) : failure.asReason());
    }
  }

  /** Returns the number of plants waiting for a batch. */
  int waitingPlants() {
    return pending.waiting();
  }

  /** Returns the number of plants whose callers wait. */
  int plants() {
    return pending.size();
  }
}
