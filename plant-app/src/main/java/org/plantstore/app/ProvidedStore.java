package org.plantstore.app;

import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.exceptions.ConfigurationException;
import jakarta.annotation.PreDestroy;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.PlantStore;

/**
 * Makes a bean of the store that is a provider of {@link ServiceLoader}, which so needs to know
 * nothing of the framework. It is made before any port is opened, and closed at the end if it is
 * {@link AutoCloseable}.
 */
@Factory
final class ProvidedStore {

  private @Nullable PlantStore store;

  @Context
  @Requires(missingBeans = PlantStore.class)
  PlantStore store() {
    ServiceLoader.Provider<PlantStore> provider =
        ServiceLoader.load(PlantStore.class).stream().findFirst().orElseThrow();
    try {
      PlantStore made = provider.get();
      store = made;
      return made;
    } catch (ServiceConfigurationError e) {
      Throwable reason = e.getCause() == null ? e : e.getCause();
      throw new ConfigurationException(
          "the store " + provider.type().getName() + " cannot be used: " + reason.getMessage());
    }
  }

  @PreDestroy
  void close() throws Exception {
    if (store instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }
}
