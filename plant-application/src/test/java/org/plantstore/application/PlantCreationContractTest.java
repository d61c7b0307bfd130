package org.plantstore.application;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.CreatePlantContract;

/** Tests the use case with an in-memory store. */
class PlantCreationContractTest extends CreatePlantContract {

  @Override
  protected CreatePlant createPlant() {
    ConcurrentMap<Long, NewPlant> plants = new ConcurrentHashMap<>();
    return new PlantCreation(plant -> {
      NewPlant stored = plants.putIfAbsent(plant.id(), plant);
      return stored == null ? plant : stored;
    });
  }

  @Override
  protected CreatePlant unavailable() {
    return new PlantCreation(plant -> {
      throw new PlantStoreUnavailableException("no answer");
    });
  }
}
