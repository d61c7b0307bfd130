package org.plantstore.application;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;

/**
 * Creates plants in a store, and decides what a taken id means: equal content is a retry, which
 * returns the same as the first call; other content is refused. Which store it is, the class path
 * decides; {@code PostgresPlantStore} is the one of this project. Safe for use by many threads.
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
    NewPlant stored = store.putIfAbsent(plant);
    if (!stored.equals(plant)) {
      throw new PlantIdTakenException(plant.id());
    }
    return stored.plant();
  }
}
