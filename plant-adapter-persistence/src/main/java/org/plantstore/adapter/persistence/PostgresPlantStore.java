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
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
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

  private final RunningStatements statements;
  final GroupCommit queue;
  private final ThreadPoolExecutor writers;
  private final ScheduledThreadPoolExecutor sweeps =
      new ScheduledThreadPoolExecutor(1, daemons("plant-sweep"));

  @SuppressWarnings("FutureReturnValueIgnored") // sweep() throws nothing
  PostgresPlantStore(
      PlantTable table,
      RunningStatements statements,
      JdbcOperations database,
      DatabaseSettings settings,
      StoreMetrics metrics,
      @Property(name = Shards.HAS_CITUS) boolean hasCitus) {
    this.statements = statements;
    int threads = hasCitus ? settings.connections - 1 : WRITERS;
    writers =
        new ThreadPoolExecutor(
            threads,
            threads,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemons("plant-writer"));
    queue =
        hasCitus
            ? new Shards(table, database, writers, settings.deadline, metrics)
            : new GroupCommit(table, writers, WRITERS, settings.deadline, metrics);
    metrics.gauge(
        "plant.store.queue.plants",
        "Plants waiting for a batch",
        queue,
        GroupCommit::waitingPlants);
    sweeps.scheduleWithFixedDelay(
        this::sweep, SWEEP.toMillis(), SWEEP.toMillis(), TimeUnit.MILLISECONDS);
  }

  static ThreadFactory daemons(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Enforces the deadlines of all plants and statements, without a timer for each. */
  private void sweep() {
    try {
      queue.sweep();
      statements.cancelOverdue();
    } catch (RuntimeException | Error e) { // an exception would end the schedule
      LOG.debug("A sweep has failed, and the next one follows", e);
    }
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
    return queue.putIfAbsent(requireNonNull(plant, "plant"));
  }

  @Override
  public boolean isNonBlocking() {
    return true;
  }

  /** Refuses further plants, and waits until no caller waits. */
  @PreDestroy
  void close() {
    queue.close();
    while (queue.plants() > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(SWEEP.toNanos());
    }
    writers.shutdown();
    sweeps.shutdown();
  }
}
