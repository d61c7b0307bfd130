package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.micronaut.context.ApplicationContext;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

/** The rules of every store, on a real server and through two instances on one database. */
class PostgresPlantStoreTest extends PlantStoreContract {

  @TempDir static Path data;
  @TempDir static Path dataOfUnreachable;

  private static DatabaseServer server;
  private static ApplicationContext instance;
  private static ApplicationContext anotherInstance;
  private static @Nullable ApplicationContext lonelyInstance;

  @BeforeAll
  static void start() {
    server = new DatabaseServer(data);
    instance = server.connect();
    anotherInstance = server.connect();
  }

  @AfterAll
  static void stop() throws IOException {
    if (lonelyInstance != null) {
      lonelyInstance.close();
    }
    anotherInstance.close();
    instance.close();
    server.close();
  }

  @BeforeEach
  void empty() {
    server.execute("TRUNCATE plant");
  }

  @Override
  protected PlantStore store() {
    return instance.getBean(PlantStore.class);
  }

  @Override
  protected PlantStore anotherStore() {
    return anotherInstance.getBean(PlantStore.class);
  }

  @Override
  protected PlantStore storeAfterCrash() {
    assertDoesNotThrow(server::crash);
    anotherInstance.close();
    anotherInstance = server.connect();
    return anotherStore();
  }

  @Override
  protected PlantStore unreachableStore() {
    DatabaseServer unreachable = new DatabaseServer(dataOfUnreachable);
    ApplicationContext cutOff = unreachable.connect();
    lonelyInstance = cutOff;
    assertDoesNotThrow(unreachable::close);
    return cutOff.getBean(PlantStore.class);
  }
}
