package org.plantstore.app;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.app.development.DevelopmentKey;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/** Which stores the service starts with, other than that of PostgreSQL. */
class InstalledStoresTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** What a service needs to be told whatever its store is. */
  private static final Map<String, String> COMPLETE = Map.of("JWT_SECRET", DevelopmentKey.SECRET);

  /** The stores are looked at before anything that is to be set. */
  private static final Map<String, String> NOTHING = Map.of();

  @TempDir Path providers;

  @Test
  void service_without_a_store_does_not_start() {
    assertEquals(
        "plant-store does not start: no store is on the class path; add one, such as"
            + " plant-adapter-persistence\n",
        refusal(withoutPostgres(), NOTHING));
  }

  @Test
  void service_with_two_stores_does_not_start_and_names_them() throws IOException {
    assertEquals(
        "plant-store does not start: 2 stores are on the class path, but there must be one; leave"
            + " out all but one of org.plantstore.adapter.persistence.PostgresPlantStore, "
            + MapPlantStore.class.getName()
            + "\n",
        refusal(providing(MapPlantStore.class) + System.getProperty("java.class.path"), NOTHING));
  }

  @Test
  void store_that_cannot_be_made_says_why() throws IOException {
    assertEquals(
        "plant-store does not start: the store "
            + UnusablePlantStore.class.getName()
            + " cannot be used: SHELF must be set, but is not\n",
        refusal(providing(UnusablePlantStore.class) + withoutPostgres(), COMPLETE));
  }

  @Test
  void store_whose_driver_is_missing_says_so() throws IOException {
    assertEquals(
        "plant-store does not start: the store "
            + DriverlessPlantStore.class.getName()
            + " cannot be used: java.lang.NoClassDefFoundError: the driver\n",
        refusal(providing(DriverlessPlantStore.class) + withoutPostgres(), COMPLETE));
  }

  @Test
  void store_whose_class_cannot_be_made_is_told_what_it_must_be() throws IOException {
    assertEquals(
        "plant-store does not start: a store in META-INF/services must be the name of a public"
            + " class that implements PlantStore and has a public constructor without parameters,"
            + " but: org.plantstore.domain.PlantStore: "
            + getClass().getName()
            + " not a subtype\n",
        refusal(providing(getClass()) + withoutPostgres(), NOTHING));
  }

  @Test
  void store_that_knows_no_framework_is_used_and_closed() throws IOException {
    String classPath = providing(MapPlantStore.class) + withoutPostgres();
    try (ServiceProcess service = start(classPath, COMPLETE).awaitReady()) {
      assertEquals("{\"name\":\"fern\"}", service.create("{\"id\":1,\"name\":\"fern\"}").body());
      assertEquals(200, service.create("{\"id\":1,\"name\":\"fern\"}").statusCode());
      assertEquals(400, service.create("{\"id\":1,\"name\":\"moss\"}").statusCode());
      service.stop();

      assertTrue(service.output().contains("closed with 1 plants\n"), service.output());
      assertEquals("", service.errors());
    }
  }

  private static ServiceProcess start(String classPath, Map<String, String> environment) {
    return new ServiceProcess(
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            classPath,
            "org.plantstore.app.Main"),
        environment);
  }

  private static String refusal(String classPath, Map<String, String> environment) {
    try (ServiceProcess service = start(classPath, environment)) {
      assertEquals(1, service.awaitExit(LIMIT));
      assertEquals("", service.output());
      return service.errors();
    }
  }

  private static String withoutPostgres() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> !entry.contains("plant-adapter-persistence"))
        .collect(joining(File.pathSeparator));
  }

  /** Answers the start of a class path that names the class as a provider. */
  private String providing(Class<?> provider) throws IOException {
    Path services = Files.createDirectories(providers.resolve("META-INF/services"));
    Files.writeString(services.resolve(PlantStore.class.getName()), provider.getName());
    return providers + File.pathSeparator;
  }

  /** A store that knows nothing but the port. */
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

  /** A store that lacks a setting. */
  public static final class UnusablePlantStore implements PlantStore {

    /** Always fails. */
    public UnusablePlantStore() {
      throw new IllegalStateException("SHELF must be set, but is not");
    }

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      throw new IllegalStateException("was never made");
    }
  }

  /** A store without what it is compiled with. */
  public static final class DriverlessPlantStore implements PlantStore {

    /** Always fails. */
    public DriverlessPlantStore() {
      throw new NoClassDefFoundError("the driver");
    }

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      throw new IllegalStateException("was never made");
    }
  }
}
