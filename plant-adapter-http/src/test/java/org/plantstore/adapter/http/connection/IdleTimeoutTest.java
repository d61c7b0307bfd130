package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.ServerTest;

/** IDLE_TIMEOUT_SECONDS closes a connection between requests, and never during one. */
@Property(name = "idle.timeout.seconds", value = "1")
class IdleTimeoutTest extends ServerTest {

  @Test
  void create_may_take_longer_than_a_connection_may_be_idle() throws IOException {
    createPlant.behave(plant -> {
      for (int connection = 0; connection < 2; connection++) {
        assertEquals("", assertDoesNotThrow(() -> send(""))); // ends when it has been idle
      }
      return plant.plant();
    });
    assertEquals(List.of(200), statuses(send(createRequest(""))));
  }
}
