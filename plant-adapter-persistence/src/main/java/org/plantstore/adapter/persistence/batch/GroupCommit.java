package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Writes the plants of concurrent callers in batches, because a commit costs about the same for one
 * plant as for hundreds. What queues while a batch is being written is the next batch: nobody waits
 * for others to come. Knows nothing of how a batch is written. Safe for use by many threads.
 */
public final class GroupCommit implements AutoCloseable {

  /** What writes a batch. */
  @FunctionalInterface
  public interface Table {

    /**
     * Keeps each plant whose id is free, durably, and answers what is stored then.
     *
     * @param plants the plants by their ids, at least one
     * @return the stored plant of each id; one that cannot be read is missing
     * @throws BatchFailure if it is unknown what is stored
     */
    Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure;
  }

  /** At most so many batches are written at once; all but one of them are overdue. */
  public static final int WRITERS = 4;

  private static final Duration REPEAT_PAUSE = Duration.ofMillis(5);

  private final Table table;
  private final Duration patience;
  private final BatchQueue queue;
  private final Thread watcher;

  /**
   * Begins to wait for callers.
   *
   * @param table what writes the batches
   * @param limits what bounds the batches
   * @param patience how long a caller waits at most
   */
  public GroupCommit(Table table, BatchQueue.Limits limits, Duration patience) {
    this.table = table;
    this.patience = patience;
    this.queue = new BatchQueue(limits);
    this.watcher = start("plant-writer-watcher", this::startWritersAsNeeded);
  }

  private static Thread start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void startWritersAsNeeded() {
    while (queue.awaitNeedOfWriter(WRITERS)) {
      try {
        start("plant-writer", this::writeBatches);
      } catch (Error e) {
        // No memory for a thread; without this one nobody would see to the deadlines.
        queue.replaceWriter();
        LockSupport.parkNanos(REPEAT_PAUSE.toNanos());
      }
    }
  }

  /**
   * Has the plant written, and waits for it.
   *
   * @return what is stored under the plant's id
   * @throws PlantStoreUnavailableException if the database is not available before the patience
   *     ends, if this is closed, or if the caller is interrupted
   * @throws IllegalStateException if the database refuses the plant for good
   */
  public NewPlant putIfAbsent(NewPlant plant) {
    long since = System.nanoTime();
    long deadline = since + patience.toNanos();
    BatchFailure earlierFailure = null;
    while (true) {
      WaitingPlant waiting = new WaitingPlant(plant, since, deadline, earlierFailure);
      add(waiting, earlierFailure);
      try {
        return waiting.await();
      } catch (BatchFailure failure) {
        if (!isWorthAnotherTry(failure, waiting)) {
          throw failure.reason();
        }
        if (deadline - System.nanoTime() <= 0) {
          throw WaitingPlant.givenUpAfter(failure).reason();
        }
        // The batch may have been written all the same; a repeated plant then finds itself.
        earlierFailure = failure;
        since = System.nanoTime();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new PlantStoreUnavailableException("interrupted while waiting for the database");
      }
    }
  }

  /** Answers how many plants wait for their batch now. */
  public int waitingPlants() {
    return queue.waitingPlants();
  }

  /** Answers how many plants have ever been taken into batches. */
  public long takenPlants() {
    return queue.takenPlants();
  }

  /** Answers how long all these have waited for their batches, taken together. */
  public Duration waited() {
    return queue.waited();
  }

  private void add(WaitingPlant waiting, @Nullable BatchFailure earlierFailure) {
    if (earlierFailure == null) {
      queue.add(waiting);
      return;
    }
    LockSupport.parkNanos(REPEAT_PAUSE.toNanos());
    try {
      queue.add(waiting);
    } catch (PlantStoreUnavailableException e) {
      throw WaitingPlant.givenUpAfter(earlierFailure).reason();
    }
  }

  /**
   * What one plant alone is told is final, unless it passes: somebody may hold its id for a while.
   */
  private static boolean isWorthAnotherTry(BatchFailure failure, WaitingPlant waiting) {
    return switch (failure.remedy()) {
      case REPEAT -> true;
      case SEPARATE ->
          !waiting.isSeparate() || failure.reason() instanceof PlantStoreUnavailableException;
      case NONE -> false;
    };
  }

  private void writeBatches() {
    try {
      BatchQueue.Batch batch = queue.next(null);
      while (batch != null) {
        write(batch.plants());
        batch = queue.next(batch);
      }
    } catch (RuntimeException | Error e) {
      queue.replaceWriter();
      throw e;
    }
  }

  private void write(List<WaitingPlant> batch) {
    // Of two with the same id the one that came first is to be stored; both are told which is.
    SortedMap<Long, NewPlant> plants = new TreeMap<>();
    batch.forEach(waiting -> plants.putIfAbsent(waiting.plant().id(), waiting.plant()));
    try {
      Map<Long, NewPlant> stored = table.putIfAbsent(plants);
      batch.forEach(waiting -> waiting.answer(stored.get(waiting.plant().id())));
    } catch (BatchFailure failure) {
      batch.forEach(waiting -> waiting.fail(failure));
    } catch (RuntimeException | Error e) {
      // A bug, or no memory; these callers must not wait in vain, nor all later ones for ever.
      BatchFailure failure =
          new BatchFailure(Remedy.NONE, new IllegalStateException("a batch failed: " + e));
      batch.forEach(waiting -> waiting.fail(failure));
    }
  }

  /**
   * Refuses further plants, and returns when all that wait are answered or have given up. A plant
   * that would have to be repeated is not.
   */
  @Override
  public void close() {
    queue.close();
    try {
      watcher.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
