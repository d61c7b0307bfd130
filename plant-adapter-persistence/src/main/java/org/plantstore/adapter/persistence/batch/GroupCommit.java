package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.adapter.persistence.batch.BatchQueue.Batch;
import org.plantstore.adapter.persistence.batch.BatchQueue.WaitingPlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Writes the plants of concurrent callers in batches, because a commit costs about the same for one
 * plant as for hundreds. The plants that arrive while a batch is in flight are the next batch: no
 * plant waits for others to arrive. Safe for use by many threads.
 */
public final class GroupCommit implements AutoCloseable {

  /** Writes a batch. */
  @FunctionalInterface
  public interface Table {

    /**
     * Stores each plant whose id is free, durably, and returns the stored plant of each id. Plants
     * that cannot be read are missing.
     *
     * @throws BatchFailure if it is unknown which plants are stored
     */
    Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure;
  }

  /** Limits the batches in flight. */
  @FunctionalInterface
  public interface Slots {

    /** Waits for a slot, and returns the action that releases it. */
    Runnable acquire() throws InterruptedException;
  }

  /** Counts the plants taken into batches, and the nanoseconds for which they waited. */
  public record Waits(LongAdder plants, LongAdder nanos) {}

  /** The maximum number of batches in flight. */
  public static final int WRITERS = 4;

  private final String databaseName;
  private final Table table;
  private final Slots slots;
  private final Supplier<Duration> timeout;
  private final Waits waits;
  private final BatchQueue queue = new BatchQueue();
  private final ScheduledExecutorService sweeper =
      Executors.newSingleThreadScheduledExecutor(work -> daemon("plant-deadlines", work));

  /**
   * Creates a group commit, and starts its threads.
   *
   * @param databaseName the name of the database in failures
   * @param timeout returns how long callers may wait, as of now
   */
  @SuppressWarnings("FutureReturnValueIgnored") // sweep() throws nothing
  public GroupCommit(
      String databaseName, Table table, Slots slots, Supplier<Duration> timeout, Waits waits) {
    this.databaseName = databaseName;
    this.table = table;
    this.slots = slots;
    this.timeout = timeout;
    this.waits = waits;
    for (int writer = 0; writer < WRITERS; writer++) {
      daemon("plant-writer", this::writeBatches).start();
    }
    sweeper.scheduleWithFixedDelay(this::sweep, 10, 10, TimeUnit.MILLISECONDS);
  }

  private static Thread daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Stores the plant with one of the next batches. Dependents of the future must not block.
   * Cancelling it removes the plant from the queue within 10 ms, unless its batch is in flight.
   *
   * @param shard a number; only plants with the same number share a batch
   * @return the plant that has the id. Fails with PlantStoreUnavailableException at the deadline or
   *     after {@link #shutdown()}, and with IllegalStateException if the database refuses the plant
   */
  public CompletableFuture<NewPlant> putIfAbsent(NewPlant plant, int shard) {
    CompletableFuture<NewPlant> stored = new CompletableFuture<>();
    long now = System.nanoTime();
    queue.add(new WaitingPlant(plant, shard, stored, now, now, null));
    return stored;
  }

  private void writeBatches() {
    try {
      while (queue.awaitReady()) {
        Runnable release = slots.acquire();
        Batch batch = queue.takeIfReady();
        if (batch != null) {
          write(batch);
        }
        release.run();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("a writer must not be interrupted", e);
    }
  }

  private void write(Batch batch) {
    waits.plants.add(batch.plants().size());
    // Of two plants with one id the first is stored; both callers get the stored plant.
    SortedMap<Long, NewPlant> plants = new TreeMap<>();
    for (WaitingPlant each : batch.plants()) {
      waits.nanos.add(batch.began() - each.queued());
      plants.putIfAbsent(each.plant().id(), each.plant());
    }
    try {
      Map<Long, NewPlant> stored = table.putIfAbsent(plants);
      batch.plants().forEach(each -> complete(each, stored.get(each.plant().id())));
    } catch (BatchFailure failure) {
      // The batch may have been committed; the retry then finds its plants.
      batch.plants().forEach(each -> retry(each, failure));
    } catch (RuntimeException | Error e) {
      // Without a cause, which could be an exception of the database or the framework (R7).
      RuntimeException bug = new IllegalStateException("a batch failed: " + e);
      bug.setStackTrace(e.getStackTrace());
      batch.plants().forEach(each -> each.stored().completeExceptionally(bug));
    } finally {
      queue.finish(batch);
    }
  }

  private void complete(WaitingPlant plant, @Nullable NewPlant stored) {
    if (stored != null) {
      plant.stored().complete(stored);
    } else {
      // The row was deleted in between, or is hidden from this account.
      var reason = new PlantStoreUnavailableException("the plant that has the id cannot be read");
      retry(plant, new BatchFailure(Retry.BATCH, reason));
    }
  }

  private void retry(WaitingPlant plant, BatchFailure failure) {
    if (plant.isRetriableAfter(failure)) {
      queue.retry(plant, failure);
    } else {
      plant.stored().completeExceptionally(failure.reason());
    }
  }

  private void sweep() {
    if (queue.isTerminated()) {
      // Stops the schedule; the sweep below is the last, and wakes the writers so that they end.
      sweeper.shutdown();
    }
    for (WaitingPlant overdue : queue.sweep(timeout.get())) {
      overdue.stored().completeExceptionally(reasonAtDeadline(overdue.failure()));
    }
  }

  /**
   * Returns the exception of a call at its deadline: the reason of its last failure if that is
   * transient, and otherwise a time-out. A permanent failure may have been caused by another plant
   * of the batch, so it is not reported.
   */
  RuntimeException reasonAtDeadline(@Nullable BatchFailure lastFailure) {
    return lastFailure != null && lastFailure.isTransient()
        ? lastFailure.reason()
        : new PlantStoreUnavailableException(databaseName + " has not answered in time");
  }

  /** Refuses further plants. The threads end when no plant waits. */
  public void shutdown() {
    queue.close();
  }

  /** Shuts down, and blocks until every accepted plant is completed. */
  @Override
  public void close() {
    shutdown();
    try {
      sweeper.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the number of plants waiting for a batch. */
  public int waitingPlants() {
    return queue.waitingPlants();
  }
}
