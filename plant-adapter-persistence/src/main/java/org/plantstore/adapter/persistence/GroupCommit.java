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
 * plant as for hundreds. Plants that arrive while a batch is in flight form the next one, so no
 * plant waits only for others to arrive. Safe for use by multiple threads.
 */
class GroupCommit {

  /** Writes a batch. */
  interface Table {

    /**
     * Stores each plant whose id is free, durably.
     *
     * @param isRetriedAlone whether this is a single plant that may have caused its batch to fail
     * @return the plants that the table now holds under these ids; null for a row that is no plant
     * @throws DatabaseFailure if it is unknown which plants are stored
     */
    Map<Long, @Nullable NewPlant> putIfAbsent(
        SortedMap<Long, NewPlant> plants, boolean isRetriedAlone) throws DatabaseFailure;
  }

  private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

  /** The delay before a batch is repeated, during which the server may come back. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  final Table table;
  final Executor executor;
  final Duration timeout;
  final StoreMetrics metrics;
  private final PendingPlants pending = new PendingPlants();

  /**
   * Creates a group commit.
   *
   * @param executor runs the writers, which end when no batch is due
   * @param timeout how long callers wait
   */
  GroupCommit(Table table, Executor executor, Duration timeout, StoreMetrics metrics) {
    this.table = table;
    this.executor = executor;
    this.timeout = timeout;
    this.metrics = metrics;
  }

  /**
   * Stores the plant if its id is free. Dependents of the future must not block. A plant whose
   * future is cancelled is not written, unless its batch is in flight.
   *
   * @return the plant that the table now holds under the id. Fails with
   *     PlantStoreUnavailableException at the deadline, and with IllegalStateException if the
   *     database refuses the plant
   */
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    return putIfAbsent(plant, 0);
  }

  /** Stores the plant like {@link #putIfAbsent(NewPlant)}, in a batch of plants of its shard. */
  final CompletableFuture<NewPlant> putIfAbsent(NewPlant plant, int shard) {
    Call call = new Call(plant, shard);
    // A writer that finishes a batch, or the sweep, takes a call that is added behind others.
    if (pending.add(call)) {
      startWriterIfDue();
    }
    return call;
  }

  /** Returns the maximum number of batches in flight. */
  int maxWriters() {
    return PostgresPlantStore.WRITERS;
  }

  private void startWriterIfDue() {
    if (pending.beginWriter(maxWriters())) {
      try {
        executor.execute(this::write);
      } catch (RejectedExecutionException | Error e) {
        pending.endWriter();
        LOG.debug("The next sweep starts the writer, because no thread is available", e);
      }
    }
  }

  private void write() {
    try {
      for (Batch batch = next(null); batch != null; batch = next(batch)) {
        write(batch);
      }
    } catch (RuntimeException | Error e) {
      pending.endWriter(); // The sweep starts another writer, and ends the calls of the batch.
      LOG.error("A writer of plants has failed, and is replaced", e);
    }
  }

  private @Nullable Batch next(@Nullable Batch last) {
    return pending.next(last, maxWriters());
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
    // If two plants have the same id, the first is stored, and both callers receive it.
    SortedMap<Long, NewPlant> plants = new TreeMap<>();
    batch.calls().forEach(call -> plants.putIfAbsent(call.plant.id(), call.plant));
    boolean isStored = false;
    try {
      Map<Long, @Nullable NewPlant> rows = put(plants, batch.isRetriedAlone());
      isStored = true;
      return rows;
    } finally {
      metrics.record(batch, isStored);
    }
  }

  /** Writes a batch to the table. */
  Map<Long, @Nullable NewPlant> put(SortedMap<Long, NewPlant> plants, boolean isRetriedAlone)
      throws DatabaseFailure {
    return table.putIfAbsent(plants, isRetriedAlone);
  }

  private void answer(Call call, Map<Long, @Nullable NewPlant> rows) {
    long id = call.plant.id();
    NewPlant stored = rows.get(id);
    if (stored != null) {
      call.complete(stored);
    } else if (rows.containsKey(id)) {
      String fault = "the row with the id " + id + " in the table plant is no plant";
      call.completeExceptionally(new IllegalStateException(fault));
    } else if (!pending.retryAlone(call)) {
      // The row has just been deleted, or is hidden from this role.
      String fault = "the plant that has the id cannot be read";
      call.completeExceptionally(new PlantStoreUnavailableException(fault));
    }
  }

  /** Retries the plants if that can help. A retry finds those that were committed after all. */
  private void retry(Batch batch, DatabaseFailure failure) {
    if (failure.retry() == Retry.BATCH) {
      LockSupport.parkNanos(PAUSE.toNanos());
      pending.repeat(batch, failure);
      return;
    }
    for (Call call : batch.calls()) {
      if (failure.retry() == Retry.NEVER || !pending.retryAlone(call)) {
        call.completeExceptionally(failure.asReason());
      }
    }
  }

  /** Ends calls that are past their deadline, and starts a writer if a batch is due. */
  void sweep() {
    end(pending.overdue(timeout), "the database has not answered in time");
    startWriterIfDue();
  }

  /** Ends all calls except this number of the oldest. */
  final void limit(int most) {
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

  /** Returns the number of plants whose callers are waiting. */
  int plants() {
    return pending.size();
  }
}
