package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.app.development.DevelopmentKey;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** The service with other stores than PostgreSQL's. */
class InstalledStoresTest {

  @TempDir Path providers;

  private final ClassLoader classPath = Thread.currentThread().getContextClassLoader();

  @AfterEach
  void restoreClassPath() {
    Thread.currentThread().setContextClassLoader(classPath);
  }

  @Test
  void check_finds_a_store_of_which_there_are_two_versions() throws IOException {
    provide(MapPlantStore.class.getName());
    String file = MapPlantStore.class.getName().replace('.', '/') + ".class";
    Path copy = providers.resolve(file);
    Files.createDirectories(copy.getParent());
    Files.copy(Program.TARGET.resolve("test-classes").resolve(file), copy);
    ProcessBuilder command =
        ServiceProcess.withoutPostgres(providers + File.pathSeparator, "check");
    try (ServiceProcess check = new ServiceProcess(command, Map.of())) {
      assertEquals(1, check.awaitExit());
      assertTrue(check.output().startsWith("✘ service: 2 stores are on the"), check.output());
      assertTrue(check.output().contains(copy.toString()), check.output());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UnusablePlantStore | ✘ service: the store NAME cannot be used: \
          java.lang.ExceptionInInitializerError, caused by java.lang.NoClassDefFoundError: the driver
          MapPlantStore      | ✔ service: the settings can work, and the ports are free
          """)
  void check_makes_and_closes_the_store(String name, String finding) throws IOException {
    String store = InstalledStoresTest.class.getName() + '$' + name;
    provide(store);
    ProcessBuilder command =
        ServiceProcess.withoutPostgres(providers + File.pathSeparator, "check");
    try (ServiceProcess check = new ServiceProcess(command, Map.of())) {
      check.awaitExit();
      String line = check.output().lines().findFirst().orElseThrow();
      assertTrue(line.matches(finding.replace("NAME", Pattern.quote(store))), line);
      assertEquals(name.equals("MapPlantStore"), check.errors().contains("closed with 0 plants"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "org.plantstore.app.Main, .*ServiceConfigurationError: .*: org.plantstore.app.Main not a"
        + " subtype",
    "Unreadable, java.lang.ClassFormatError: .* Unreadable"
  })
  void store_whose_class_cannot_be_used_is_told_what_it_must_be_and_why(String name, String reason)
      throws IOException {
    provide(name);
    Files.writeString(providers.resolve("Unreadable.class"), "no class");
    String refusal = refusal(InstalledStores::providers);
    String demand =
        "a store in META-INF/services must be the name of a public class that implements PlantStore"
            + " and has a public constructor without parameters, but: ";
    assertTrue(refusal.matches(demand + reason), refusal);
  }

  @Test
  @Tag("newest")
  void store_that_knows_no_framework_is_used_and_closed_and_delays_nothing_if_it_hangs()
      throws IOException {
    provide(MapPlantStore.class.getName());
    ProcessBuilder command = ServiceProcess.withoutPostgres(providers + File.pathSeparator);
    Map<String, String> environment =
        Map.of("JWT_SECRET", DevelopmentKey.SECRET, "CREATE_TIMEOUT_SECONDS", "1");
    try (ServiceProcess service = new ServiceProcess(command, environment).awaitReady()) {
      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals(503, service.create(2, MapPlantStore.REFUSED).statusCode());
      assertTrue(service.awaitLine("may retry").endsWith(": one two three four five"));
      for (long id = 2; id < 4; id++) { // on one connection
        assertEquals(503, service.create(id, MapPlantStore.HANGS).statusCode());
      }
      service.awaitLine(MapPlantStore.class.getName() + " has exceeded CREATE_TIMEOUT_SECONDS, 1");
      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals(200, service.readiness());

      assertEquals(ServiceProcess.TERMINATED, service.stop());
      assertTrue(service.output().contains("closed with 1 plants\n"), service.output());
      assertEquals("", service.errors());
    }
  }

  private static String refusal(Executable start) {
    return String.valueOf(assertThrows(ConfigurationException.class, start).getMessage());
  }

  /** Adds a folder that names a class as a provider to the class path of this thread. */
  private void provide(String provider) throws IOException {
    Path services = Files.createDirectories(providers.resolve("META-INF/services"));
    Files.writeString(services.resolve(PlantStore.class.getName()), provider);
    URL[] folder = {providers.toUri().toURL()};
    Thread.currentThread().setContextClassLoader(new URLClassLoader(folder, classPath));
  }

  /** A store that depends only on the port, and never answers about one name. */
  public static final class MapPlantStore implements PlantStore, AutoCloseable {

    static final String HANGS = "moss";
    static final String REFUSED = "refused";

    private final ConcurrentMap<Long, NewPlant> plants = new ConcurrentHashMap<>();

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      if (plant.name().equals(REFUSED)) {
        throw new PlantStoreUnavailableException("one\ntwo\r\nthree\u0085four\u2028five");
      }
      while (plant.name().equals(HANGS)) {
        LockSupport.park();
      }
      NewPlant stored = plants.putIfAbsent(plant.id(), plant);
      return stored == null ? plant : stored;
    }

    @Override
    public void close() {
      System.out.println("closed with " + plants.size() + " plants");
    }
  }

  /** A store that lacks a library. */
  public static final class UnusablePlantStore implements PlantStore {

    /** Always fails. */
    public UnusablePlantStore() {
      throw new ExceptionInInitializerError(new NoClassDefFoundError("the driver"));
    }

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      throw new IllegalStateException("was never made");
    }
  }
}
