package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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

  @Test
  void bean_that_is_also_a_provider_is_one_store() throws IOException {
    provide(ClosingStore.class.getName());
    String output = refusalOf("check", "--closing.store=true");
    assertTrue(output.contains("✔ service: "), output);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          InstalledStoresTest$UnusablePlantStore | the store NAME cannot be used: \
          java.lang.ExceptionInInitializerError, caused by java.lang.NoClassDefFoundError: the driver
          \uFEFFMain | a store in META-INF/services must be the name of a public class that implements \
          PlantStore and has a public constructor without parameters, in a file without a byte order \
          mark, but: .*ServiceConfigurationError: .*: Provider .*Main not found
          """)
  void unusable_store_is_refused_with_what_it_must_be(String name, String refusal)
      throws IOException {
    String store = "org.plantstore.app." + name;
    provide(store);
    String output = refusalOf("--jwt.secret=" + DevelopmentKey.SECRET);
    String expected =
        "plant-store does not start: " + refusal.replace("NAME", Pattern.quote(store));
    assertTrue(output.lines().anyMatch(line -> line.matches(expected)), output);
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

  private void provide(String provider) throws IOException {
    Path services = Files.createDirectories(providers.resolve("META-INF/services"));
    Files.writeString(services.resolve(PlantStore.class.getName()), provider);
  }

  /** Returns the output and the errors of a start or a command that fails. */
  private String refusalOf(String... arguments) {
    ProcessBuilder command =
        ServiceProcess.withoutPostgres(providers + File.pathSeparator, arguments);
    try (ServiceProcess process = new ServiceProcess(command, Map.of())) {
      assertEquals(1, process.awaitExit());
      return process.output() + process.errors();
    }
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

    public UnusablePlantStore() {
      throw new ExceptionInInitializerError(new NoClassDefFoundError("the driver"));
    }

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      throw new IllegalStateException("was never made");
    }
  }
}
