package org.plantstore.app;

import static java.util.stream.Collectors.joining;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.inject.BeanDefinition;
import jakarta.annotation.PreDestroy;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.PlantStore;

/**
 * Finds the store on the class path, and checks that there is exactly one. A store is either a bean
 * or a {@link ServiceLoader} provider. A provider does not depend on the framework. This class
 * creates the provider's store before any port is opened. If that store is {@link AutoCloseable},
 * this class closes it at shutdown.
 */
@ContextConfigurer
@Factory
public final class InstalledStores implements ApplicationContextConfigurer {

  /** The property that contains the simple name of the store's class. */
  static final String NAME = "store.name";

  private @Nullable PlantStore provided;

  @Override
  public void configure(ApplicationContext context) {
    List<? extends Class<?>> stores =
        Stream.concat(
                context.getBeanDefinitions(PlantStore.class).stream()
                    .filter(bean -> bean.getDeclaringType().orElse(null) != InstalledStores.class)
                    .map(BeanDefinition::getBeanType),
                providers().map(ServiceLoader.Provider::type))
            .distinct() // one class may be both a bean and a provider
            .toList();
    if (stores.isEmpty()) {
      throw new ConfigurationException(
          "there is no store on the class path; add one, such as plant-adapter-persistence, that is"
              + " a bean or is named in META-INF/services/"
              + PlantStore.class.getName());
    }
    if (stores.size() > 1) {
      throw new ConfigurationException(
          ("there must be exactly one store on the class path, but there are " + stores.size())
              + "; remove all but one of "
              + stores.stream().map(Class::getName).sorted().collect(joining(", ")));
    }
    context
        .getEnvironment()
        .addPropertySource(PropertySource.of("store", Map.of(NAME, stores.get(0).getSimpleName())));
  }

  /** Runs first, because the required settings depend on the store. */
  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }

  /** Returns the providers named in {@code META-INF/services}, without creating their stores. */
  private static Stream<ServiceLoader.Provider<PlantStore>> providers() {
    try {
      return ServiceLoader.load(PlantStore.class).stream().toList().stream();
    } catch (ServiceConfigurationError | LinkageError e) {
      throw new ConfigurationException(
          "the file in META-INF/services must have no byte order mark and must name a public class"
              + " that implements PlantStore and has a public no-argument constructor, but loading"
              + " the class failed: "
              + e);
    }
  }

  @Context
  @Requires(missingBeans = PlantStore.class)
  PlantStore store() {
    ServiceLoader.Provider<PlantStore> provider = providers().findFirst().orElseThrow();
    try {
      PlantStore store = provider.get();
      provided = store;
      return store;
    } catch (ServiceConfigurationError e) {
      throw new ConfigurationException(
          "the store " + provider.type().getName() + " cannot be created: " + reasonOf(e));
    }
  }

  /** Returns the exception that the store threw, followed by its causes. */
  private static String reasonOf(ServiceConfigurationError failure) {
    return Stream.iterate(failure.getCause(), Objects::nonNull, Throwable::getCause)
        .map(Throwable::toString)
        .collect(joining(", caused by "));
  }

  @PreDestroy
  void close() throws Exception {
    if (provided instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }
}
