package org.example.nursery.bean;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Property;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.reactivestreams.Publisher;

/** Keeps a limited number of plants in memory, so not R4. Safe for use by many threads. */
@Singleton
final class MemoryPlantStore implements PlantStore, HealthIndicator {

  private final Map<Long, NewPlant> plants = new HashMap<>();
  private final int maxPlants;
  private boolean isClosed;

  MemoryPlantStore(
      @Property(name = MemoryStart.MAX_PLANTS) int maxPlants, MeterRegistry registry) {
    this.maxPlants = maxPlants;
    Gauge.builder("nursery.plants", this, MemoryPlantStore::size)
        .description("Plants in memory")
        .register(registry);
  }

  @Override
  public synchronized NewPlant putIfAbsent(NewPlant plant) {
    NewPlant stored = plants.get(plant.id());
    if (stored != null) {
      return stored;
    }
    if (isClosed || plants.size() >= maxPlants) {
      throw new PlantStoreUnavailableException(isClosed ? "the store is closed" : "memory is full");
    }
    plants.put(plant.id(), plant);
    return plant;
  }

  private synchronized int size() {
    return plants.size();
  }

  /** Returns DOWN, and the service is not ready, while the memory is full. */
  @Override
  public Publisher<HealthResult> getResult() {
    HealthStatus status = size() < maxPlants ? HealthStatus.UP : HealthStatus.DOWN;
    return Publishers.just(HealthResult.builder("memory", status).build());
  }

  /** Closes the store, after all requests are answered. */
  @PreDestroy
  synchronized void close() {
    isClosed = true;
  }
}
