package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.plantstore.domain.PlantStore;

/** The rules of every store, on a real server and through two instances on one database. */
class PostgresPlantStoreTest extends InstancesContract {

  private static final DatabaseServer SERVER = DatabaseServer.shared();

  @BeforeAll
  static void start() {
    SERVER.reset();
    another(SERVER.connect());
    another(SERVER.connect());
  }

  @BeforeEach
  void empty() {
    SERVER.execute("TRUNCATE plant");
  }

  @Override
  protected PlantStore storeAfterCrash() {
    assertDoesNotThrow(SERVER::crash);
    return another(SERVER.connect());
  }

  /** Returns a store whose account may no longer log in. */
  @Override
  protected PlantStore unreachableStore() {
    SERVER.execute("DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN SUPERUSER");
    PlantStore store =
        another(
            SERVER.connect(Map.of("database.username", "stranger", "database.timeout.seconds", 1)));
    SERVER.execute(
        "ALTER ROLE stranger NOLOGIN",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'stranger'");
    return store;
  }
}
