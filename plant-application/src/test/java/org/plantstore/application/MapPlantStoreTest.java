package org.plantstore.application;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

/** The map stands for a database that is durable: only the store itself ends in a crash. */
class MapPlantStoreTest extends PlantStoreContract {

  private final ConcurrentMap<Long, NewPlant> database = new ConcurrentHashMap<>();
  private final PlantStore store = new MapPlantStore(database);

  @Override
  protected PlantStore store() {
    return store;
  }

  @Override
  protected PlantStore anotherStore() {
    return new MapPlantStore(database);
  }

  @Override
  protected PlantStore storeAfterCrash() {
    return new MapPlantStore(database);
  }

  @Override
  protected PlantStore unreachableStore() {
    MapPlantStore unreachable = new MapPlantStore(database);
    unreachable.disconnect();
    return unreachable;
  }
}
