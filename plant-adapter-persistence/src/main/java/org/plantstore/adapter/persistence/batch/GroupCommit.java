package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.adapter.persistence.batch.BatchQueue.Batch;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Writes the plants of concurrent callers in batches, because a commit costs about the same for one
 * plant as for hundreds. The plants that arrive while a batch is in flight are the next batch: no
 * plant waits for others to arrive. Safe for use by many threads.
 */
public final class GroupCommit implements PlantQueue {

  /** Writes a batch. */
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
  public interface Limit {

    /** Waits until a batch may be taken, and returns the action that ends it. */
    Runnable begin() throws InterruptedException;
  }

  /** The threads of a group commit, and so its most batches in flight. */
  public static final int WRITERS = 4;

  private final String databaseName;
  private final Table table;
  private final Limit limit;
  private final ToIntFunction<NewPlant> groups;
  private final Supplier<Duration> timeout;
  private final Counts counts;
  private final BatchQueue queue = new BatchQueue();
  private final CountDownLatch terminated = new CountDownLatch(1);
  private final ScheduledFuture<?> sweeps;

  /** Creates a group commit whose batches mix all plants, and whose callers wait so long. */
  public GroupCommit(Table table, Duration timeout, Counts counts) {
    this("the database", table, () -> () -> {}, plant -> 0, () -> timeout, counts);
  }

  /**
   * Creates a group commit, and starts its threads.
   *
   * @param databaseName the name of the database in failures
   * @param groups returns a number; only plants with the same number share a batch
   * @param timeout returns how long callers may wait, as of now
   */
  public GroupCommit(
      String databaseName,
      Table table,
      Limit limit,
      ToIntFunction<NewPlant> groups,
      Supplier<Duration> timeout,
      Counts counts) {
    this.databaseName = databaseName;
    this.table = table;
    this.limit = limit;
    this.groups = groups;
    this.timeout = timeout;
    this.counts = counts;
    try {
      for (int writer = 0; writer < WRITERS; writer++) {
        Thread thread = new Thread(this::writeBatches, "plant-writer");
        thread.setDaemon(true);
        thread.start();
      }
      sweeps = Sweeps.begin(this::sweep);
    } catch (Error noThread) {
      shutdown(); // ends the writers that could start
      throw noThread;
    }
  }

  @Override
  public CompletableFuture<NewPlant> putIfAbsent(NewPlant plant) {
    CompletableFuture<NewPlant> stored = new CompletableFuture<>();
    long now = System.nanoTime();
    queue.add(new WaitingPlant(plant, groups.applyAsInt(plant), stored, now, now, null));
    return stored;
  }

  private void writeBatches() {
    try {
      while (queue.awaitReady()) {
        Runnable end = limit.begin();
        try {
          Batch batch = queue.takeIfReady();
          if (batch != null) {
            write(batch);
          }
        } finally {
          end.run();
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("a writer must not be interrupted", e);
    }
  }

  private void write(Batch batch) {
    try {
      counts.taken().add(batch.plants().size());
      // Of two plants with one id the first is stored; both callers get the stored plant.
      SortedMap<Long, NewPlant> plants = new TreeMap<>();
      for (WaitingPlant each : batch.plants()) {
        counts.nanosWaited().add(batch.began() - each.mayBegin());
        plants.putIfAbsent(each.plant().id(), each.plant());
      }
      Map<Long, NewPlant> stored = table.putIfAbsent(plants);
      batch.plants().forEach(each -> complete(each, stored.get(each.plant().id())));
    } catch (BatchFailure failure) {
      // The batch may have been committed; the retry then finds its plants.
      batch.plants().forEach(each -> retry(each, failure));
    } catch (RuntimeException | Error e) {
      var bug = new BatchFailure(Retry.NEVER, Duration.ZERO, false, "a batch failed: " + e);
      bug.setStackTrace(e.getStackTrace());
      batch.plants().forEach(each -> retry(each, bug));
    } finally {
      queue.finish(batch);
    }
  }

  private void complete(WaitingPlant plant, @Nullable NewPlant stored) {
    if (stored != null) {
      plant.stored().complete(stored);
    } else {
      // The row was deleted in between, or is hidden from this account.
      String reason = "the plant that has the id cannot be read";
      retry(plant, new BatchFailure(Retry.BATCH, Duration.ZERO, true, reason));
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
    boolean isLast = queue.isTerminated(); // before the sweep, which wakes the writers a last time
    for (WaitingPlant overdue : queue.sweep(timeout.get())) {
      overdue.stored().completeExceptionally(reasonAtDeadline(overdue.failure()));
    }
    if (isLast) {
      terminated.countDown();
      sweeps.cancel(false);
    }
  }

  /** Does not tell a permanent failure, which may be the fault of another plant in the batch. */
  RuntimeException reasonAtDeadline(@Nullable BatchFailure lastFailure) {
    return lastFailure != null && lastFailure.isTransient()
        ? lastFailure.reason()
        : new PlantStoreUnavailableException(databaseName + " has not answered in time");
  }

  /** Refuses further plants. The threads end when no plant waits. */
  public void shutdown() {
    queue.close();
  }

  @Override
  public void close() {
    shutdown();
    try {
      terminated.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public int waitingPlants() {
    return queue.waitingPlants();
  }
}
