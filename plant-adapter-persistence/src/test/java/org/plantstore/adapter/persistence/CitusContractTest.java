package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.plantstore.adapter.persistence.CitusNode.COORDINATOR;
import static org.plantstore.adapter.persistence.CitusNode.WORKER1;

import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.plantstore.domain.PlantStore;

/**
 * Checks that the store follows the rules for all stores when it uses Citus. One instance is
 * connected to the coordinator, and another one is connected to a worker.
 */
@Tag("citus")
class CitusContractTest extends InstancesContract {

  CitusContractTest() {
    super(COORDINATOR);
  }

  @BeforeAll
  static void start() {
    CitusNode.createTable(8);
    another(COORDINATOR.connect(Map.of()));
    another(WORKER1.connect(Map.of()));
  }

  @Override
  protected PlantStore storeAfterCrash() {
    for (CitusNode node : CitusNode.ALL) {
      assertDoesNotThrow(node::kill);
      assertDoesNotThrow(node::start);
    }
    return another(COORDINATOR.connect(Map.of()));
  }
}
