package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.plantstore.domain.PlantStore;

/**
 * The rules of every store, on a real server. To one of the instances it reports a wrong number of
 * changed rows, as Citus does: answers follow from rows only.
 */
@Tag("newest")
class PostgresPlantStoreTest extends InstancesContract {

  @AutoClose private static LyingServer liar;

  PostgresPlantStoreTest() {
    super(SERVER);
  }

  @BeforeAll
  static void start() throws Exception {
    SERVER.reset();
    liar = new LyingServer(SERVER.port());
    another(SERVER.connect(Map.of("database.url", liar.url(), "database.timeout.seconds", 60)));
    another(SERVER.connect(Map.of("database.timeout.seconds", 60)));
    try (Connection connection = DriverManager.getConnection(liar.url(), "postgres", "any")) {
      String insert = "INSERT INTO plant VALUES (-1, 'fern')";
      assertEquals(8, connection.createStatement().executeUpdate(insert), "the server lies");
    }
  }

  @Override
  protected PlantStore storeAfterCrash() {
    assertDoesNotThrow(SERVER::crash);
    return another(SERVER.connect(Map.of()));
  }
}
