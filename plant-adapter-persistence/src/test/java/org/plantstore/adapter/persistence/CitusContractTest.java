package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.plantstore.adapter.persistence.CitusCluster.Node;
import org.plantstore.domain.PlantStore;

/**
 * The rules of every store on Citus, through an instance at the coordinator and one at a worker.
 */
@Tag("citus")
class CitusContractTest extends InstancesContract {

  @BeforeAll
  static void start() {
    CitusCluster.makeTable(8);
    another(Node.COORDINATOR.connect(Map.of()));
    another(Node.WORKER1.connect(Map.of()));
  }

  @BeforeEach
  void empty() {
    Node.COORDINATOR.execute("TRUNCATE plant");
  }

  @Override
  protected PlantStore storeAfterCrash() {
    for (Node node : Node.values()) {
      node.kill();
      assertDoesNotThrow(node::start);
    }
    return another(Node.COORDINATOR.connect(Map.of()));
  }

  /** Returns a store whose account may no longer log in. */
  @Override
  protected PlantStore unreachableStore() {
    Node.COORDINATOR.execute(
        "DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN SUPERUSER");
    PlantStore store =
        another(
            Node.COORDINATOR.connect(
                Map.of("database.username", "stranger", "database.timeout.seconds", 1)));
    Node.COORDINATOR.execute(
        "ALTER ROLE stranger NOLOGIN",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'stranger'");
    return store;
  }
}
