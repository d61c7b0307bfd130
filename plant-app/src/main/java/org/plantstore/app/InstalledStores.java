package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.plantstore.domain.PlantStore;

/**
 * The stores on the class path: beans, and providers of {@link ServiceLoader}. The service is that
 * of one store, and refuses to start with none, or to choose among several.
 */
@ContextConfigurer
public final class InstalledStores implements ApplicationContextConfigurer {

  @Override
  public void configure(ApplicationContext context) {
    List<String> stores =
        Stream.concat(
                context.getBeanDefinitions(PlantStore.class).stream()
                    .filter(bean -> bean.getDeclaringType().orElse(null) != ProvidedStore.class)
                    .map(bean -> bean.getBeanType().getName()),
                providers().map(store -> store.type().getName()))
            .sorted()
            .toList();
    if (stores.isEmpty()) {
      throw new ConfigurationException(
          "no store is on the class path; add one, such as plant-adapter-persistence");
    }
    if (stores.size() > 1) {
      throw new ConfigurationException(
          stores.size()
              + " stores are on the class path, but there must be one; leave out all but one of "
              + String.join(", ", stores));
    }
  }

  /** Returns the stores that are named in META-INF/services, without making them. */
  static Stream<ServiceLoader.Provider<PlantStore>> providers() {
    try {
      return ServiceLoader.load(PlantStore.class).stream().toList().stream();
    } catch (ServiceConfigurationError e) {
      throw new ConfigurationException(
          "a store in META-INF/services must be the name of a public class that implements"
              + " PlantStore and has a public constructor without parameters, but: "
              + (e.getCause() == null ? e.getMessage() : e.getCause().toString()));
    }
  }

  /** First: what is to be set depends on the store. */
  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }
}
