package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import jakarta.inject.Singleton;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.plantstore.adapter.persistence.batch.PlantQueue;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Keeps plants in a table of PostgreSQL, and commits those of concurrent callers together. */
@Singleton
final class PostgresPlantStore implements PlantStore {

  private final PlantQueue queue;

  PostgresPlantStore(PlantQueue queue) {
    this.queue = queue;
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

  /** Does not use the executor: a thread of the queue completes the stage. */
  @Override
  public CompletableFuture<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(executor, "executor");
    return queue.putIfAbsent(requireNonNull(plant, "plant"));
  }

  @Override
  public boolean isNonBlocking() {
    return true;
  }
}
