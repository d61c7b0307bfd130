package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micronaut.context.ApplicationContext;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.domain.PlantStore;

/**
 * Two stores on a server that reports a wrong number of changed rows, as Citus does: answers follow
 * from the rows only.
 */
class LyingServerTest {

  @Test
  @Timeout(60)
  void of_rivals_in_the_batches_of_two_stores_one_wins() throws Exception {
    SERVER.reset();
    try (LyingServer liar = new LyingServer(SERVER.port());
        ApplicationContext one = SERVER.connect(Map.of("database.url", liar.url()));
        ApplicationContext other = SERVER.connect(Map.of("database.url", liar.url()))) {
      try (Connection connection = DriverManager.getConnection(liar.url(), "postgres", "any")) {
        String insert = "INSERT INTO plant VALUES (-1, 'fern')";
        assertEquals(8, connection.createStatement().executeUpdate(insert), "the server lies");
      }
      Calls.assertOneWins(one.getBean(PlantStore.class), other.getBean(PlantStore.class), 3_000);
    }
  }
}
