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
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.DatabaseFailure.Retry;
import org.plantstore.adapter.persistence.PendingPlants.Batch;
import org.plantstore.adapter.persistence.PendingPlants.Call;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes plants from concurrent callers in batches, because a commit takes about as long for one
 * plant as for hundreds of plants. The plants that arrive while a batch is in flight form the next
 * batch. If no batch is in flight, a plant is written immediately. This class is thread-safe.
 */
final class GroupCommit implements PlantQueue {

  /** The table to which batches are written. */
  interface Table {

    /**
     * Durably stores each plant whose id is free.
     *
     * @param isRetriedAlone whether a plant is being retried on its own, in which case the map
     *     contains only this plant
     * @return the plants that the table now holds under these ids, with null for each invalid row
     * @throws DatabaseFailure if the attempt failed. The plants may nevertheless have been stored.
     */
    Map<Long, @Nullable NewPlant> putIfAbsent(
        SortedMap<Long, NewPlant> plants, boolean isRetriedAlone) throws DatabaseFailure;
  }

  private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

  /** The delay before a batch is retried, which gives the server time to recover. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  final Table table;
  private final IntSupplier maxWriters;
  private final Executor executor;
  private final Duration timeout;
  private final StoreMetrics metrics;
  private final PendingPlants pending = new PendingPlants();

  /**
   * Creates a queue.
   *
   * @param maxWriters supplies the maximum number of batches in flight
   * @param executor runs the writers
   * @param timeout the time within which a call must complete
   */
  GroupCommit(
      Table table,
      IntSupplier maxWriters,
      Executor executor,
      Duration timeout,
      StoreMetrics metrics) {
    this.table = table;
    this.maxWriters = maxWriters;
    this.executor = executor;
    this.timeout = timeout;
    this.metrics = metrics;
  }

  /** Returns a queue for another table, with the same executor, timeout, and metrics. */
  GroupCommit with(Table otherTable, IntSupplier otherMaxWriters) {
    return new GroupCommit(otherTable, otherMaxWriters, executor, timeout, metrics);
  }

  @Override
  public CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    return putIfAbsent(plant, 0);
  }

  /** Works like {@link #putIfAbsent(NewPlant)}, but uses a batch for the given shard. */
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant, int shard) {
    Call call = new Call(plant, shard);
    // If other calls are already waiting, a running writer or sweep() takes care of this call too.
    if (pending.add(call)) {
      startWriterIfDue();
    }
    return call;
  }

  private void startWriterIfDue() {
    if (pending.beginWriter(maxWriters.getAsInt())) {
      try {
        executor.execute(this::write);
      } catch (RejectedExecutionException | Error e) {
        pending.endWriter();
        LOG.debug("No thread is available, so the next sweep will start a writer", e);
      }
    }
  }

  private void write() {
    try {
      for (Batch batch = next(null); batch != null; batch = next(batch)) {
        write(batch);
      }
    } catch (RuntimeException | Error e) {
      pending.endWriter(); // The next sweep starts another writer, and fails overdue calls.
      LOG.error("A plant writer has failed and is being replaced", e);
    }
  }

  private @Nullable Batch next(@Nullable Batch last) {
    return pending.next(last, maxWriters.getAsInt());
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
    // If two plants have the same id, the first plant is stored, and both callers receive it.
    SortedMap<Long, NewPlant> plants = new TreeMap<>();
    batch.calls().forEach(call -> plants.putIfAbsent(call.plant.id(), call.plant));
    boolean isStored = false;
    try {
      Map<Long, @Nullable NewPlant> rows = table.putIfAbsent(plants, batch.isRetriedAlone());
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
      String fault = "the row with the id " + id + " in the table plant is not a valid plant";
      call.completeExceptionally(new IllegalStateException(fault));
    } else if (!pending.retryAlone(call)) {
      // The row has just been deleted, or row-level security hides it from this role.
      String fault = "the row with the id " + id + " in the table plant is hidden or was deleted";
      call.completeExceptionally(new PlantStoreUnavailableException(fault));
    }
  }

  /**
   * Retries the plants in a failed batch if a retry can help. If the plants were committed despite
   * the failure, the retry finds them.
   */
  private void retry(Batch batch, DatabaseFailure failure) {
    if (failure.retry() == Retry.BATCH) {
      LockSupport.parkNanos(PAUSE.toNanos());
      pending.retryBatch(batch, failure);
      return;
    }
    for (Call call : batch.calls()) {
      if (failure.retry() == Retry.NEVER || !pending.retryAlone(call)) {
        call.completeExceptionally(failure.asReason());
      }
    }
  }

  @Override
  public void sweep() {
    fail(pending.overdue(timeout), "the database did not respond in time");
    startWriterIfDue();
  }

  /** Fails all but the oldest {@code max} calls. */
  void limit(int max) {
    fail(pending.beyond(max), "the server is not responding, and too many plants are waiting");
  }

  private static void fail(List<Call> calls, String reason) {
    for (Call call : calls) {
      DatabaseFailure failure = call.failure;
      call.completeExceptionally(
          failure == null ? new PlantStoreUnavailableException(reason) : failure.asReason());
    }
  }

  @Override
  public int waitingPlants() {
    return pending.waiting();
  }

  @Override
  public int plants() {
    return pending.size();
  }
}
