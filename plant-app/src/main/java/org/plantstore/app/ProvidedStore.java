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
 * Makes a bean of the store that is a provider of {@link ServiceLoader}, so that a store need not
 * know the framework. The store is made before any port is opened, and closed at the end if it is
 * {@link AutoCloseable}.
 */
@Factory
final class ProvidedStore {

  private @Nullable PlantStore store;

  @Context
  @Requires(missingBeans = PlantStore.class)
  PlantStore store() {
    ServiceLoader.Provider<PlantStore> provider =
        InstalledStores.providers().findFirst().orElseThrow();
    try {
      PlantStore made = provider.get();
      store = made;
      return made;
    } catch (ServiceConfigurationError e) {
      throw new ConfigurationException(
          "the store " + provider.type().getName() + " cannot be used: " + reason(e));
    }
  }

  /**
   * Returns the message of the store's own exception, or the error that its constructor met, such
   * as a missing driver.
   */
  private static String reason(ServiceConfigurationError failure) {
    Throwable cause = failure.getCause();
    if (cause instanceof ExceptionInInitializerError) {
      cause = cause.getCause();
    }
    return cause instanceof Exception && cause.getMessage() != null
        ? cause.getMessage()
        : String.valueOf(cause == null ? failure.getMessage() : cause);
  }

  @PreDestroy
  void close() throws Exception {
    if (store instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }
}
