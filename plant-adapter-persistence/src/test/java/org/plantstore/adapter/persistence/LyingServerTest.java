package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.domain.PlantStore;

/**
 * The contract on a server that reports a wrong number of changed rows, as Citus does: answers
 * follow from the rows only.
 */
class LyingServerTest extends InstancesContract {

  private static LyingServer liar;

  LyingServerTest() {
    super(SERVER);
  }

  @BeforeAll
  static void start() throws IOException {
    SERVER.reset();
    liar = new LyingServer(SERVER.port());
    another(SERVER.connect(Map.of("database.url", liar.url())));
    another(SERVER.connect(Map.of("database.url", liar.url())));
  }

  @AfterAll
  static void stopLying() throws IOException {
    liar.close();
  }

  @Override
  protected PlantStore storeAfterCrash() {
    assertDoesNotThrow(SERVER::crash);
    return store();
  }

  @Test
  void server_lies() throws Exception {
    try (Connection connection = DriverManager.getConnection(liar.url(), "postgres", "any")) {
      assertEquals(
          8, connection.createStatement().executeUpdate("INSERT INTO plant VALUES (1, 'fern')"));
    }
  }

  @Test
  @Timeout(60)
  void of_rivals_in_the_batches_of_two_stores_one_wins() throws Exception {
    Calls.assertOneWins(store(), anotherStore(), 3_000);
  }
}
