package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.app.development.DevelopmentKey;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Runs the service with stores other than the PostgreSQL store. */
class InstalledStoresTest {

  private static final String STORE = MapPlantStore.class.getName();

  @TempDir Path folder;

  @Test
  void provider_whose_class_is_missing_is_refused_with_the_reason() throws IOException {
    assertEquals(
        "the store named in META-INF/services cannot be created:"
            + " java.util.ServiceConfigurationError: org.plantstore.domain.PlantStore: Provider"
            + " org.example.Missing not found",
        refusalNextToPostgres("org.example.Missing"));
  }

  @Test
  void bean_that_is_also_a_provider_counts_once_and_a_second_store_is_refused() throws IOException {
    assertEquals(
        "the class path must contain exactly one store, but contains 2:"
            + " org.plantstore.adapter.persistence.PostgresPlantStore, "
            + (STORE + "; remove all but one"),
        refusalNextToPostgres(STORE));
  }

  /** Returns why startup fails if this store is on the class path next to the PostgreSQL store. */
  private String refusalNextToPostgres(String store) throws IOException {
    registerProvider(store);
    Thread thread = Thread.currentThread();
    ClassLoader classPath = thread.getContextClassLoader();
    URL[] urls = {folder.toUri().toURL()};
    try (URLClassLoader withStore = new URLClassLoader(urls, classPath)) {
      thread.setContextClassLoader(withStore);
      return StartupTest.refusal(Map.of("MAP_IS_BEAN", "true"));
    } finally {
      thread.setContextClassLoader(classPath);
    }
  }

  @Test
  void startup_fails_with_the_reason_if_the_store_cannot_be_created() throws IOException {
    Map<String, String> environment =
        Map.of("JWT_SECRET", DevelopmentKey.SECRET, MapPlantStore.FAULT, "the disk is full");
    try (ServiceProcess service = new ServiceProcess(javaWith(STORE), environment)) {
      assertEquals(1, service.awaitExit());
      assertEquals(
          ("plant-store cannot start: the store " + STORE + " cannot be created:")
              + " java.lang.IllegalStateException: the disk is full\n",
          service.errors());
    }
  }

  /**
   * Restores the default action of SIGHUP, because a process that was started with {@code nohup}
   * ignores this signal, and so do its children.
   */
  @Test
  @Tag("newest")
  @EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux has env --default-signal")
  void store_without_a_framework_is_used_and_closed_and_delays_no_other_request_if_it_hangs()
      throws IOException {
    ProcessBuilder command = javaWith(STORE);
    command.command().addAll(0, List.of("env", "--default-signal=HUP"));
    Map<String, String> environment =
        Map.of("JWT_SECRET", DevelopmentKey.SECRET, "CREATE_TIMEOUT_SECONDS", "1");
    try (ServiceProcess service = new ServiceProcess(command, environment).awaitReady()) {
      // The requests are repeated, because the deadline may pass before a thread runs the call.
      Await.until(() -> assertEquals(200, service.create(1, "fern").statusCode()));
      Await.until(() -> {
        assertEquals(503, service.create(2, MapPlantStore.REFUSED).statusCode());
        assertNotEquals(List.of(), service.lines("error 5002: one two three four five"));
      });
      for (long id = 2; id < 4; id++) { // both on one connection
        assertEquals(503, service.create(id, MapPlantStore.HANGS).statusCode());
      }
      service.awaitLine(STORE + " did not respond within 1 s (CREATE_TIMEOUT_SECONDS)");
      Await.until(() -> assertEquals(200, service.create(1, "fern").statusCode()));
      assertEquals(200, service.readiness());

      service.signal("HUP");
      assertEquals(129, service.awaitExit());
      assertTrue(service.output().contains("closed with 1 plants\n"), service.output());
      assertEquals("", service.errors());
    }
  }

  private ProcessBuilder javaWith(String store) throws IOException {
    registerProvider(store);
    return ServiceProcess.javaWithStore(folder);
  }

  private void registerProvider(String store) throws IOException {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(services.resolve(PlantStore.class.getName()), store);
  }

  /**
   * A store that depends only on the port and hangs if a plant has the name {@link #HANGS}. The
   * store is a bean only if the property {@code map.is.bean} is set.
   */
  @Singleton
  @Requires(property = "map.is.bean")
  public static final class MapPlantStore implements PlantStore, AutoCloseable {

    static final String FAULT = "MAP_FAULT";
    static final String HANGS = "moss";
    static final String REFUSED = "refused";

    private final ConcurrentMap<Long, NewPlant> plants = new ConcurrentHashMap<>();

    public MapPlantStore() {
      if (System.getenv(FAULT) != null) {
        throw new IllegalStateException(System.getenv(FAULT));
      }
    }

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
}
