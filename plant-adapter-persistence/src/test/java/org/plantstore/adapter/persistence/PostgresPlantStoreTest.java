package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.plantstore.adapter.persistence.SharedServer.SERVER;

import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.plantstore.domain.PlantStore;

/** Checks that the store on a real server follows the rules for all stores. */
@Tag("newest")
class PostgresPlantStoreTest extends InstancesContract {

  PostgresPlantStoreTest() {
    super(SERVER);
  }

  @BeforeAll
  static void start() {
    SERVER.reset();
    for (int instance = 0; instance < 2; instance++) {
      another(SERVER.connect(Map.of()));
    }
  }

  @Override
  protected PlantStore storeAfterCrash() {
    assertDoesNotThrow(SERVER::crash);
    return another(SERVER.connect(Map.of()));
  }
}
