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
 * Creates plants in a store, and decides what to do if an id is already taken. If the stored plant
 * equals the new plant, the call counts as a retry and returns the same result as the first call.
 * If the two plants differ, the call throws {@link PlantIdTakenException}. Instances are safe for
 * use by multiple threads. This class is not final, so that containers can subclass it to create
 * proxies.
 */
@Singleton
public class PlantCreation implements CreatePlant {

  private final PlantStore store;

  /**
   * Creates an instance that uses the given store.
   *
   * @param store the store that holds the plants
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
      throw rejectionOrFault(e, plant);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>This method calls {@link PlantStore#putIfAbsentAsync} only if {@link
   * PlantStore#isNonBlocking()} returns true. In that case, the returned stage is a {@code
   * CompletableFuture}, and canceling it also cancels the store's stage.
   */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    if (!store.isNonBlocking()) {
      return CreatePlant.super.createAsync(plant, executor);
    }
    // The stage that thenApply returns would wrap the store's exception in a CompletionException.
    CompletableFuture<Plant> result = new CompletableFuture<>();
    CompletionStage<NewPlant> storing = store.putIfAbsentAsync(plant, executor);
    storing.whenComplete((stored, failure) -> {
      try {
        if (failure != null) {
          throw failure;
        }
        result.complete(created(plant, stored));
      } catch (InvalidPlantException | PlantIdTakenException e) {
        result.completeExceptionally(rejectionOrFault(e, plant));
      } catch (Throwable e) {
        result.completeExceptionally(e);
      }
    });
    // Canceling the store's stage has no effect if that stage has already completed.
    var unused =
        result.whenComplete((created, failure) -> storing.toCompletableFuture().cancel(true));
    return result;
  }

  /** Returns the store's class name, which appears in error messages. */
  @Override
  public String toString() {
    return store.getClass().getName();
  }

  private Plant created(NewPlant plant, NewPlant stored) {
    requireNonNull(stored, () -> this + " must return a plant, but returned null");
    if (stored.id() != plant.id()) {
      String demand = this + " must return the plant with id " + plant.id();
      throw new IllegalStateException(demand + ", but returned a plant with id " + stored.id());
    }
    if (!stored.equals(plant)) {
      throw new PlantIdTakenException(plant.id());
    }
    return stored.plant();
  }

  /**
   * Returns the given exception if it concerns the given plant. If the exception does not concern
   * the given plant, the caller is not responsible, so this method returns an exception that
   * reports an internal error in the store.
   */
  private RuntimeException rejectionOrFault(RuntimeException rejection, NewPlant plant) {
    if ((rejection instanceof InvalidPlantException invalid && invalid.refuses(plant))
        || (rejection instanceof PlantIdTakenException taken && taken.id() == plant.id())) {
      return rejection;
    }
    String demand = this + " must reject only the plant that it receives, which has id ";
    String remedy = "; if the stored row with this id is invalid, correct that row";
    return new IllegalStateException(demand + plant.id() + remedy, rejection);
  }
}
