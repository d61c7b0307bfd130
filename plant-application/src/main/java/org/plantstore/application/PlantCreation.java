package org.plantstore.application;

import static java.util.Objects.requireNonNull;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;

/**
 * Creates plants in a store, and decides what a taken id means: equal content is a retry, which
 * returns the result of the first call; other content is refused. The store is the one on the class
 * path; this project has {@code PostgresPlantStore}. Safe for use by many threads.
 */
@Singleton
public final class PlantCreation implements CreatePlant {

  private final PlantStore store;

  /**
   * Creates the use case.
   *
   * @param store the store of the plants
   */
  @Inject
  public PlantCreation(PlantStore store) {
    this.store = store;
  }

  @Override
  public Plant create(NewPlant plant) {
    return created(plant, store.putIfAbsent(plant));
  }

  /**
   * {@inheritDoc}
   *
   * <p>A store that may block is called on the executor. If the stage is cancelled as a {@code
   * CompletableFuture}, the stage of the store is cancelled too.
   */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    Creation creation = new Creation(requireNonNull(plant, "plant"));
    requireNonNull(executor, "executor");
    if (store.isNonBlocking()) {
      creation.start(executor);
    } else {
      creation.startOn(executor);
    }
    return creation;
  }

  /** Returns the name of the store's class, for messages. */
  @Override
  public String toString() {
    return store.getClass().getName();
  }

  private Plant created(NewPlant plant, NewPlant stored) {
    if (stored.id() != plant.id()) {
      // A fault of the store, which must not be told as the caller's.
      throw new IllegalStateException(
          store.getClass().getName()
              + " must return the plant with the id "
              + plant.id()
              + ", but returned one with the id "
              + stored.id());
    }
    if (!stored.equals(plant)) {
      throw new PlantIdTakenException(plant.id());
    }
    return stored.plant();
  }

  /** A create in progress. A stage that depends on the store's would wrap its exception. */
  private final class Creation extends CompletableFuture<Plant> {

    private final NewPlant plant;

    Creation(NewPlant plant) {
      this.plant = plant;
    }

    void startOn(Executor executor) {
      try {
        executor.execute(() -> {
          Thread caller = Thread.currentThread();
          start(work -> {
            // This thread may block, so that the store needs no second one.
            if (Thread.currentThread() == caller) {
              work.run();
            } else {
              executor.execute(work);
            }
          });
        });
      } catch (RuntimeException | Error e) {
        completeExceptionally(e);
      }
    }

    void start(Executor executor) {
      if (isDone()) {
        return; // cancelled before it began
      }
      try {
        CompletionStage<NewPlant> storing = store.putIfAbsentAsync(plant, executor);
        storing.whenComplete(this::end);
        var unused =
            whenComplete((created, failure) -> {
              if (isCancelled()) {
                storing.toCompletableFuture().cancel(true);
              }
            });
      } catch (Throwable e) {
        completeExceptionally(e);
      }
    }

    private void end(@Nullable NewPlant stored, @Nullable Throwable failure) {
      try {
        if (failure == null) {
          complete(created(plant, requireNonNull(stored)));
        } else {
          completeExceptionally(failure);
        }
      } catch (Throwable e) {
        completeExceptionally(e);
      }
    }
  }
}
