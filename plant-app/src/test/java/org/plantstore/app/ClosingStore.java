package org.plantstore.app;

import io.micronaut.context.annotation.Requires;
import io.micronaut.runtime.event.ApplicationShutdownEvent;
import io.micronaut.runtime.event.annotation.EventListener;
import jakarta.inject.Singleton;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/** A store that closes on the framework's event, and fails afterwards. */
@Singleton
@Requires(property = "closing.store")
public final class ClosingStore implements PlantStore {

  private volatile boolean closed;

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    if (closed) {
      throw new IllegalStateException("closed");
    }
    return plant;
  }

  @EventListener
  void close(ApplicationShutdownEvent event) {
    closed = true;
    System.out.println("the store is closed");
  }
}
