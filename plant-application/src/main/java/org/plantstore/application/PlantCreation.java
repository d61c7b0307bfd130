package org.plantstore.application;

import static java.util.Objects.requireNonNull;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;

/**
 * Creates plants in a store, and decides what a taken id means: equal content is a retry, which
 * returns the result of the first call; other content is refused. Safe for use by many threads. Not
 * final, so that containers can proxy it.
 */
@Singleton
public class PlantCreation implements CreatePlant {

  private final PlantStore store;

  /**
   * Creates the use case.
   *
   * @param store the store of the plants
   * @throws NullPointerException if {@code store} is null
   */
  @Inject
  public PlantCreation(PlantStore store) {
    this.store = requireNonNull(store);
  }

  @Override
  public Plant create(NewPlant plant) {
    try {
      return created(plant, store.putIfAbsent(plant));
    } catch (InvalidPlantException | PlantIdTakenException e) {
      throw attributed(e, plant);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>The asynchronous form of the store is used only if it {@linkplain PlantStore#isNonBlocking()
   * blocks no caller}. If the returned stage is then cancelled as a {@code CompletableFuture}, so
   * is the stage of the store.
   */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    if (!store.isNonBlocking()) {
      return CreatePlant.super.createAsync(plant, executor);
    }
    // A dependent stage would fail with a CompletionException around the exception of the store.
    CompletableFuture<Plant> result = new CompletableFuture<>();
    CompletionStage<NewPlant> storing = store.putIfAbsentAsync(plant, executor);
    storing.whenComplete((stored, failure) -> {
      try {
        if (failure != null) {
          throw failure;
        }
        result.complete(created(plant, stored));
      } catch (InvalidPlantException | PlantIdTakenException e) {
        result.completeExceptionally(attributed(e, plant));
      } catch (Throwable e) {
        result.completeExceptionally(e);
      }
    });
    // Does nothing to a stage that has completed.
    var unused =
        result.whenComplete((created, failure) -> storing.toCompletableFuture().cancel(true));
    return result;
  }

  /** Returns the name of the store's class, for messages. */
  @Override
  public String toString() {
    return store.getClass().getName();
  }

  private Plant created(NewPlant plant, NewPlant stored) {
    requireNonNull(stored, () -> this + " must return a plant, but returned null");
    if (stored.id() != plant.id()) {
      String demand = this + " must return the plant with the id " + plant.id();
      throw new IllegalStateException(demand + ", but returned one with the id " + stored.id());
    }
    if (!stored.equals(plant)) {
      throw new PlantIdTakenException(plant.id());
    }
    return stored.plant();
  }

  /**
   * Returns a refusal of the plant, or a fault of the store if it refuses another plant or none,
   * because then the caller is not responsible.
   */
  private RuntimeException attributed(RuntimeException refusal, NewPlant plant) {
    if ((refusal instanceof InvalidPlantException invalid && invalid.refuses(plant))
        || (refusal instanceof PlantIdTakenException taken && taken.id() == plant.id())) {
      return refusal;
    }
    String demand = this + " must refuse only the plant that it is given, here that with the id ";
    String remedy = "; if the row with this id is invalid, correct it";
    return new IllegalStateException(demand + plant.id() + remedy, refusal);
  }
}
