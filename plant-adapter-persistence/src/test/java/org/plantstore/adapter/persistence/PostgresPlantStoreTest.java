package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.micronaut.context.ApplicationContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

/** The rules of every store, on a real server and through two instances on one database. */
class PostgresPlantStoreTest extends PlantStoreContract {

  private static final DatabaseServer SERVER = DatabaseServer.shared();
  private static final List<ApplicationContext> INSTANCES = new ArrayList<>();

  @BeforeAll
  static void start() {
    SERVER.reset();
    another(Map.of());
    another(Map.of());
  }

  @AfterAll
  static void stop() {
    INSTANCES.forEach(ApplicationContext::close);
  }

  @BeforeEach
  void empty() {
    SERVER.execute("TRUNCATE plant");
  }

  @Override
  protected PlantStore store() {
    return INSTANCES.get(0).getBean(PlantStore.class);
  }

  @Override
  protected PlantStore anotherStore() {
    return INSTANCES.get(1).getBean(PlantStore.class);
  }

  @Override
  protected PlantStore storeAfterCrash() {
    assertDoesNotThrow(SERVER::crash);
    return another(Map.of());
  }

  /** One whose database lets it in no longer. */
  @Override
  protected PlantStore unreachableStore() {
    SERVER.execute("DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN SUPERUSER");
    PlantStore store =
        another(Map.of("database.username", "stranger", "database.timeout.seconds", 1));
    SERVER.execute(
        "ALTER ROLE stranger NOLOGIN",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'stranger'");
    return store;
  }

  private static PlantStore another(Map<String, Object> settings) {
    ApplicationContext instance = SERVER.connect(settings);
    INSTANCES.add(instance);
    return instance.getBean(PlantStore.class);
  }
}
