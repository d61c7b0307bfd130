package org.plantstore.app;

import static java.util.Objects.requireNonNullElse;
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
 * or a {@link ServiceLoader} provider. A provider does not need to depend on the framework. If the
 * store comes from a provider, this class creates the store before any port is opened. At shutdown,
 * this class closes that store if it is {@link AutoCloseable}.
 */
@ContextConfigurer
@Factory
public final class InstalledStores implements ApplicationContextConfigurer {

  /** The property that contains the simple name of the store's class. */
  static final String NAME = "store.name";

  private @Nullable PlantStore provided;

  @Override
  public void configure(ApplicationContext context) {
    Stream<? extends Class<?>> beans =
        context.getBeanDefinitions(PlantStore.class).stream()
            .filter(bean -> bean.getDeclaringType().orElse(null) != InstalledStores.class)
            .map(BeanDefinition::getBeanType);
    List<? extends Class<?>> stores =
        Stream.concat(beans, providers().stream().map(ServiceLoader.Provider::type))
            .distinct() // one class may be both a bean and a provider
            .toList();
    if (stores.size() != 1) {
      String names = stores.stream().map(Class::getName).sorted().collect(joining(", "));
      throw new ConfigurationException(
          "the class path must contain exactly one store, but contains "
              + (stores.isEmpty()
                  ? "none; add one, such as plant-adapter-persistence"
                  : stores.size() + ": " + names + "; remove all but one"));
    }
    context
        .getEnvironment()
        .addPropertySource(PropertySource.of("store", Map.of(NAME, stores.get(0).getSimpleName())));
  }

  /** Makes this class run first, because the store determines which settings are required. */
  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }

  /** Returns the providers named in {@code META-INF/services}, without creating their stores. */
  private static List<ServiceLoader.Provider<PlantStore>> providers() {
    try {
      return ServiceLoader.load(PlantStore.class).stream().toList();
    } catch (ServiceConfigurationError | LinkageError e) {
      throw unusable("the store named in META-INF/services", e);
    }
  }

  @Context
  @Requires(missingBeans = PlantStore.class)
  PlantStore store() {
    ServiceLoader.Provider<PlantStore> provider = providers().get(0);
    try {
      PlantStore store = provider.get();
      provided = store;
      return store;
    } catch (ServiceConfigurationError e) {
      throw unusable("the store " + provider.type().getName(), requireNonNullElse(e.getCause(), e));
    }
  }

  /** Returns an exception whose message describes the failure and its causes. */
  private static ConfigurationException unusable(String store, @Nullable Throwable failure) {
    return new ConfigurationException(
        Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
            .map(Throwable::toString)
            .collect(joining(", caused by ", store + " cannot be created: ", "")));
  }

  @PreDestroy
  void close() throws Exception {
    if (provided instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }
}
