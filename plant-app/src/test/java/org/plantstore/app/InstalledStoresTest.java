package org.plantstore.app;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.app.development.DevelopmentKey;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/** The service with other stores than PostgreSQL's. */
class InstalledStoresTest {

  @TempDir Path providers;

  private final ClassLoader classPath = Thread.currentThread().getContextClassLoader();

  @AfterEach
  void restoreClassPath() {
    Thread.currentThread().setContextClassLoader(classPath);
  }

  @Test
  void check_finds_that_there_is_no_store() {
    String fault =
        "✘ service: no store is on the class path; add one, such as plant-adapter-persistence\n";
    ProcessBuilder command = ServiceProcess.withoutPostgres("", "check");
    try (ServiceProcess check = new ServiceProcess(command, Map.of())) {
      assertEquals(1, check.awaitExit());
      assertTrue(check.output().startsWith(fault), check.output());
    }
  }

  @Test
  void service_with_two_stores_does_not_start_and_names_them() throws IOException {
    provide(MapPlantStore.class);
    assertRefused(
        "2 stores are on the class path, but there must be one; leave out all but one of"
            + " org.plantstore.adapter.persistence.PostgresPlantStore, "
            + MapPlantStore.class.getName(),
        () -> ApplicationContext.run().close());
  }

  @Test
  void check_finds_a_store_of_which_there_are_two_versions() throws IOException {
    provide(MapPlantStore.class);
    String file = MapPlantStore.class.getName().replace('.', '/') + ".class";
    Path copy = providers.resolve(file);
    Files.createDirectories(copy.getParent());
    try (InputStream original = requireNonNull(classPath.getResourceAsStream(file))) {
      Files.copy(original, copy);
    }
    ProcessBuilder command =
        ServiceProcess.withoutPostgres(providers + File.pathSeparator, "check");
    try (ServiceProcess check = new ServiceProcess(command, Map.of())) {
      assertEquals(1, check.awaitExit());
      assertTrue(check.output().startsWith("✘ service: 2 stores are on the"), check.output());
      assertTrue(check.output().contains(copy.toString()), check.output());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "false, 'java.lang.IllegalStateException: SHELF must be set, but is not'",
    "true, 'java.lang.ExceptionInInitializerError, caused by java.lang.NoClassDefFoundError: the driver'"
  })
  void store_that_cannot_be_made_says_why(boolean lacksDriver, String reason) throws IOException {
    UnusablePlantStore.lacksDriver = lacksDriver;
    provide(UnusablePlantStore.class);
    assertRefused(
        "the store " + UnusablePlantStore.class.getName() + " cannot be used: " + reason,
        new InstalledStores()::store);
  }

  @Test
  void store_whose_class_cannot_be_made_is_told_what_it_must_be() throws IOException {
    provide(getClass());
    assertRefused(
        "a store in META-INF/services must be the name of a public class that implements PlantStore"
            + " and has a public constructor without parameters, but:"
            + " java.util.ServiceConfigurationError: org.plantstore.domain.PlantStore: "
            + getClass().getName()
            + " not a subtype",
        InstalledStores::providers);
  }

  @Test
  void store_whose_class_cannot_be_loaded_says_why() throws IOException {
    provide(getClass());
    Path services = providers.resolve("META-INF/services").resolve(PlantStore.class.getName());
    Files.writeString(services, "Unreadable");
    Files.writeString(providers.resolve("Unreadable.class"), "no class");
    String refusal =
        String.valueOf(
            assertThrows(ConfigurationException.class, InstalledStores::providers).getMessage());
    assertTrue(refusal.contains("but: java.lang.ClassFormatError: "), refusal);
    assertTrue(refusal.endsWith(" Unreadable"), refusal);
  }

  @Test
  void store_that_knows_no_framework_is_used_and_closed() throws IOException {
    provide(MapPlantStore.class);
    ProcessBuilder command = ServiceProcess.withoutPostgres(providers + File.pathSeparator);
    Map<String, String> environment = Map.of("JWT_SECRET", DevelopmentKey.SECRET);
    try (ServiceProcess service = new ServiceProcess(command, environment).awaitReady()) {
      assertEquals("{\"name\":\"fern\"}", service.create(1, "fern").body());
      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals(400, service.create(1, "moss").statusCode());

      assertEquals(ServiceProcess.TERMINATED, service.stop());
      assertTrue(service.output().contains("closed with 1 plants\n"), service.output());
      assertEquals("", service.errors());
    }
  }

  private static void assertRefused(String reason, Executable start) {
    assertEquals(reason, assertThrows(ConfigurationException.class, start).getMessage());
  }

  /** Adds a folder that names the class as a provider to the class path of this thread. */
  private void provide(Class<?> provider) throws IOException {
    Path services = Files.createDirectories(providers.resolve("META-INF/services"));
    Files.writeString(services.resolve(PlantStore.class.getName()), provider.getName());
    URL[] folder = {providers.toUri().toURL()};
    Thread.currentThread().setContextClassLoader(new URLClassLoader(folder, classPath));
  }

  /** A store that depends only on the port. */
  public static final class MapPlantStore implements PlantStore, AutoCloseable {

    private final ConcurrentMap<Long, NewPlant> plants = new ConcurrentHashMap<>();

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      NewPlant stored = plants.putIfAbsent(plant.id(), plant);
      return stored == null ? plant : stored;
    }

    @Override
    public void close() {
      System.out.println("closed with " + plants.size() + " plants");
    }
  }

  /** A store that lacks a setting or a library. */
  public static final class UnusablePlantStore implements PlantStore {

    private static boolean lacksDriver;

    /** Always fails. */
    public UnusablePlantStore() {
      if (lacksDriver) {
        throw new ExceptionInInitializerError(new NoClassDefFoundError("the driver"));
      }
      throw new IllegalStateException("SHELF must be set, but is not");
    }

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      throw new IllegalStateException("was never made");
    }
  }
}
