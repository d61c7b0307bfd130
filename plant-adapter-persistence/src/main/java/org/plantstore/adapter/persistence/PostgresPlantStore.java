package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import io.micronaut.context.annotation.Property;
import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps plants in a table of PostgreSQL, and commits those of concurrent callers together. */
@Singleton
final class PostgresPlantStore implements PlantStore {

  /** The batches in flight to one server, at most, and so the connections for plants. */
  static final int WRITERS = 4;

  private static final Duration SWEEP = Duration.ofMillis(10);
  private static final Logger LOG = LoggerFactory.getLogger(PostgresPlantStore.class);

  final GroupCommit queue;

  /**
   * Prefers the thread that became idle last, and with it a connection and a server process whose
   * data are still in the processor's caches. At low load a create thus takes an eighth less CPU
   * time than with a fixed thread pool, whose threads take turns.
   */
  private final ExecutorService writers = Executors.newCachedThreadPool(daemons("plant-writer"));

  /** One thread ends calls; the other cancels statements, for which it waits for the network. */
  private final ScheduledExecutorService sweeps =
      Executors.newScheduledThreadPool(2, daemons("plant-sweep"));

  private volatile boolean isClosed;

  PostgresPlantStore(
      PlantTable table,
      JdbcOperations database,
      DatabaseSettings settings,
      StoreMetrics metrics,
      @Property(name = Shards.HAS_CITUS) boolean hasCitus) {
    queue =
        hasCitus
            ? new Shards(
                table, database, writers, settings.connections - 1, settings.deadline, metrics)
            : new GroupCommit(table, writers, settings.deadline, metrics);
    metrics.gauge(
        "plant.store.queue.plants",
        "Plants waiting for a batch",
        queue,
        GroupCommit::waitingPlants);
    // Enforce all deadlines, without a timer for each plant or statement.
    repeat(queue::sweep);
    repeat(table::cancelOverdue);
  }

  static ThreadFactory daemons(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the sweep throws nothing
  private void repeat(Runnable work) {
    Runnable sweep =
        () -> {
          try {
            work.run();
          } catch (RuntimeException | Error e) { // an exception would end the schedule
            LOG.debug("A sweep has failed, and the next one follows", e);
          }
        };
    sweeps.scheduleWithFixedDelay(sweep, SWEEP.toMillis(), SWEEP.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    CompletableFuture<NewPlant> stored = putIfAbsentAsync(plant, Runnable::run);
    try {
      return stored.get();
    } catch (ExecutionException e) {
      throw (RuntimeException) e.getCause();
    } catch (InterruptedException e) {
      stored.cancel(false);
      Thread.currentThread().interrupt();
      throw new PlantStoreUnavailableException("interrupted while waiting for the database");
    }
  }

  /** Does not use the executor: a writer completes the stage. */
  @Override
  public CompletableFuture<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(executor, "executor");
    CompletableFuture<NewPlant> stored = queue.putIfAbsent(requireNonNull(plant, "plant"));
    if (isClosed) { // looked at afterwards: close() waits for all that were added before
      stored.completeExceptionally(new PlantStoreUnavailableException("the store is closed"));
    }
    return stored;
  }

  @Override
  public boolean isNonBlocking() {
    return true;
  }

  /** Refuses further plants, and waits until no caller waits, at most for the deadline. */
  @PreDestroy
  void close() {
    isClosed = true;
    while (queue.plants() > 0) {
      LockSupport.parkNanos(SWEEP.toNanos());
    }
    writers.shutdown();
    sweeps.shutdown();
  }
}
