package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Writes the plants of concurrent callers in batches, because a commit costs about the same for one
 * plant as for hundreds. The plants that arrive while a batch is being written are the next batch:
 * no plant waits for others to arrive. {@link BatchQueue} decides when a batch is taken, four
 * threads named {@code plant-writer} write. There is one for each lane of shards, so that what
 * fails or waits in one delays no other. Safe for use by many threads.
 */
public final class GroupCommit implements AutoCloseable {

  /** Writes a batch. */
  @FunctionalInterface
  public interface Table {

    /**
     * Stores each plant whose id is free, durably, and returns what is stored then.
     *
     * @param plants the plants by their ids, at least one
     * @return the stored plant of each id; one that cannot be read is missing
     * @throws BatchFailure if it is unknown what is stored
     */
    Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure;
  }

  /** The maximum numbers of a batch's plants, and of its bytes unless a single plant has more. */
  public record Limits(int plants, long bytes) {}

  /** The maximum number of batches that are written at once. */
  public static final int WRITERS = 4;

  /** The maximum number of batches that are written beside another one of their lane. */
  public static final int SPARES = WRITERS - 1;

  private static final Duration SWEEP_PERIOD = Duration.ofMillis(10);

  private final Table table;
  private final Duration timeout;
  private final Outage outage;
  private final BatchQueue queue;

  private final ScheduledExecutorService sweeper =
      Executors.newSingleThreadScheduledExecutor(work -> daemon("plant-deadlines", work));
  private final LongAdder takenPlants = new LongAdder();
  private final LongAdder waitedNanos = new LongAdder();

  /**
   * Creates a group commit whose callers wait until the time-out, and starts its threads. All lanes
   * share the permits.
   */
  @SuppressWarnings("FutureReturnValueIgnored") // sweep() throws nothing
  public GroupCommit(Table table, Limits limits, Duration timeout, Permits permits) {
    this.table = table;
    this.timeout = timeout;
    this.outage = new Outage(timeout);
    this.queue = new BatchQueue(limits, permits, outage);
    for (int writer = 0; writer < WRITERS; writer++) {
      daemon("plant-writer", this::writeBatches).start();
    }
    sweeper.scheduleWithFixedDelay(
        this::sweep, SWEEP_PERIOD.toMillis(), SWEEP_PERIOD.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static Thread daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Stores the plant with one of the next batches. Dependents of the future run on a writer or on
   * the thread of the deadlines, and must not block. Cancelling the future removes the plant from
   * the queue, unless it is being written.
   *
   * @param shard where the plant's id is kept
   * @return the plant that has the id. Fails with PlantStoreUnavailableException at the deadline,
   *     during an outage of the shard's server, or after {@link #shutdown()}; with
   *     IllegalStateException if the database refuses the plant permanently
   */
  public CompletableFuture<NewPlant> putIfAbsent(NewPlant plant, Shard shard) {
    CompletableFuture<NewPlant> stored = new CompletableFuture<>();
    long now = System.nanoTime();
    // For a writer, which takes it in writeNextBatch().
    queue.add(new WaitingPlant(plant, shard, stored, now, now + timeout.toNanos(), null));
    return stored;
  }

  private void writeBatches() {
    boolean isOpen = true;
    while (isOpen) {
      try {
        isOpen = writeNextBatch();
      } catch (InterruptedException | RuntimeException | Error e) {
        // Writers are not interrupted, so memory is short. The callers fail at their deadlines.
        LockSupport.parkNanos(SWEEP_PERIOD.toNanos());
      }
    }
  }

  private boolean writeNextBatch() throws InterruptedException {
    BatchQueue.Batch batch = queue.take();
    if (batch == null) {
      return false;
    }
    takenPlants.add(batch.plants().size());
    batch.plants().forEach(plant -> waitedNanos.add(batch.began() - plant.since()));
    try {
      write(batch);
    } finally {
      queue.finish(batch);
    }
    return true;
  }

  private void write(BatchQueue.Batch batch) {
    // Of two plants with one id the first is to be stored; both callers get the stored one.
    SortedMap<Long, NewPlant> plants = new TreeMap<>();
    batch.plants().forEach(each -> plants.putIfAbsent(each.plant().id(), each.plant()));
    failOnBug(
        batch.plants(),
        () -> {
          try {
            Map<Long, NewPlant> stored = table.putIfAbsent(plants);
            outage.end();
            batch.plants().forEach(each -> complete(each, stored.get(each.plant().id())));
          } catch (BatchFailure failure) {
            outage.note(batch, failure);
            // The batch may have been committed all the same; the retry then finds its plants.
            retry(batch.plants(), failure);
          }
        });
  }

  /** Fails the plants if the work meets a bug, or no memory: no caller must wait in vain. */
  private static void failOnBug(List<WaitingPlant> plants, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      RuntimeException bug = new IllegalStateException("a batch failed: " + e, e);
      plants.forEach(each -> each.fail(bug));
    }
  }

  private void complete(WaitingPlant plant, @Nullable NewPlant stored) {
    if (stored != null) {
      plant.stored().complete(stored);
    } else {
      // The row was deleted in between, or is hidden from this account.
      String reason = "the plant that has the id cannot be read";
      retry(
          List.of(plant),
          new BatchFailure(Remedy.REPEAT, new PlantStoreUnavailableException(reason)));
    }
  }

  /** Queues the plants again after the pause of the remedy, as far as that can help. */
  private void retry(List<WaitingPlant> plants, BatchFailure failure) {
    List<WaitingPlant> attempts =
        plants.stream().map(each -> each.retryAfter(failure)).flatMap(Optional::stream).toList();
    if (!attempts.isEmpty()) {
      ScheduledFuture<?> unused =
          sweeper.schedule(
              () -> failOnBug(attempts, () -> attempts.forEach(queue::add)),
              failure.remedy().pause().toNanos(),
              TimeUnit.NANOSECONDS);
    }
  }

  private void sweep() {
    try {
      if (!queue.sweep()) {
        sweeper.shutdown();
      }
    } catch (RuntimeException | Error e) {
      // No memory; an exception would end the schedule, and with it all deadlines.
    }
  }

  /**
   * Refuses further plants. All that wait are answered or give up; one that would have to be
   * retried is refused. The threads end then.
   */
  public void shutdown() {
    queue.close();
  }

  /** Does as {@link #shutdown()}, and returns when the threads end. */
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

  /** Returns the number of plants ever refused because this lane could not write. */
  public long refusedPlants() {
    return outage.refusedPlants();
  }

  /** Returns the number of plants ever taken into batches. */
  public long takenPlants() {
    return takenPlants.sum();
  }

  /** Returns how long all plants taken into batches waited, in total. */
  public Duration waited() {
    return Duration.ofNanos(waitedNanos.sum());
  }
}
