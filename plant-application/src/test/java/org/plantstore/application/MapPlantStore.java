package org.plantstore.application;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.ConcurrentMap;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** A store that keeps its plants in a map, which stands for the database and outlives the store. */
final class MapPlantStore implements PlantStore {

  private final ConcurrentMap<Long, NewPlant> database;
  private volatile boolean reachable = true;

  MapPlantStore(ConcurrentMap<Long, NewPlant> database) {
    this.database = database;
  }

  void disconnect() {
    reachable = false;
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    requireNonNull(plant, "plant");
    if (!reachable) {
      throw new PlantStoreUnavailableException("the store is disconnected");
    }
    NewPlant stored = database.putIfAbsent(plant.id(), plant);
    return stored == null ? plant : stored;
  }
}
