package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.plantstore.adapter.persistence.CitusCluster.Node;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

/**
 * The rules of every store on Citus, through an instance at the coordinator and one at a worker.
 */
@Tag("citus")
class CitusContractTest extends PlantStoreContract {

  private static final List<ApplicationContext> INSTANCES = new ArrayList<>();

  @BeforeAll
  static void start() throws SQLException {
    CitusCluster.makeTable(8);
    another(Node.COORDINATOR, Map.of());
    another(Node.WORKER1, Map.of());
  }

  @AfterAll
  static void stop() {
    INSTANCES.forEach(ApplicationContext::close);
  }

  @BeforeEach
  void empty() throws SQLException {
    Node.COORDINATOR.execute("TRUNCATE plant");
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
    try {
      for (Node node : Node.values()) {
        node.kill();
        node.start();
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return another(Node.COORDINATOR, Map.of());
  }

  /** One whose database lets it in no longer. */
  @Override
  protected PlantStore unreachableStore() {
    try {
      Node.COORDINATOR.execute(
          "DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN SUPERUSER");
      PlantStore store =
          another(
              Node.COORDINATOR,
              Map.of("database.username", "stranger", "database.timeout.seconds", 1));
      Node.COORDINATOR.execute(
          "ALTER ROLE stranger NOLOGIN",
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'stranger'");
      return store;
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static PlantStore another(Node node, Map<String, Object> settings) {
    ApplicationContext instance = node.connect(settings);
    INSTANCES.add(instance);
    return instance.getBean(PlantStore.class);
  }
}
