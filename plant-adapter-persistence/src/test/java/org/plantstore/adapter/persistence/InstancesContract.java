package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

/** The rules of every store, through two instances of a service on one database. */
abstract class InstancesContract extends PlantStoreContract {

  /** The instances of the current test class. */
  private static final List<ApplicationContext> INSTANCES = new ArrayList<>();

  /** Keeps an instance until the last test of the class has run, and returns its store. */
  static PlantStore another(ApplicationContext instance) {
    INSTANCES.add(instance);
    return instance.getBean(PlantStore.class);
  }

  @AfterAll
  static void stop() {
    INSTANCES.forEach(ApplicationContext::close);
    INSTANCES.clear();
  }

  @Override
  protected PlantStore store() {
    return INSTANCES.get(0).getBean(PlantStore.class);
  }

  @Override
  protected PlantStore anotherStore() {
    return INSTANCES.get(1).getBean(PlantStore.class);
  }
}
