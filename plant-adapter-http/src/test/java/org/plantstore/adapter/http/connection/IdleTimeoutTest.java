package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.ServerTest;

/** IDLE_TIMEOUT_SECONDS closes a connection between requests, and never during one. */
@Property(name = "idle.timeout.seconds", value = "1")
class IdleTimeoutTest extends ServerTest {

  @Test
  void create_may_take_longer_than_a_connection_may_be_idle() throws IOException {
    createPlant.behave(plant -> {
      awaitIdleTimeout();
      awaitIdleTimeout();
      return plant.plant();
    });
    try (Socket socket = connect()) {
      write(socket, createRequest(""));
      String answers = readAll(socket); // until it is idle
      assertEquals(List.of(200), statuses(answers));
    }
  }

  private void awaitIdleTimeout() {
    assertDoesNotThrow(() -> {
      try (Socket idle = connect()) {
        assertEquals("", readAll(idle));
      }
    });
  }
}
