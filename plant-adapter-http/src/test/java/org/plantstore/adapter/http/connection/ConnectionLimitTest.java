package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.ServerTest;

@Property(name = "max.connections", value = "2")
@Property(name = "idle.timeout.seconds", value = "1")
class ConnectionLimitTest extends ServerTest {

  /** A connection is idle between requests, and never during one. */
  @Test
  void create_may_take_longer_than_a_connection_may_be_idle() throws IOException {
    createPlant.behave(plant -> {
      assertEquals("", assertDoesNotThrow(() -> send(""))); // ends when it has been idle
      return plant.plant();
    });
    assertEquals(List.of(200), statuses(send(createRequest("Connection: close\r\n"))));
  }

  @Test
  void connection_beyond_the_limit_is_closed_and_one_that_ends_makes_room() throws IOException {
    try (Socket first = connect(server)) {
      try (Socket second = connect(server)) {
        assertTrue(isServed(first));
        assertTrue(isServed(second));
        assertEquals("", readAll(connect(server)));
        assertTrue(isServed(second));
      }
      // The server learns a moment later that a connection has ended.
      for (boolean isRoom = false; !isRoom; ) {
        try (Socket next = connect(server)) {
          isRoom = isServed(next);
        }
      }
      assertTrue(isServed(first));
    }
  }

  private static boolean isServed(Socket socket) {
    try {
      write(socket, createRequest(""));
      String answer = read(socket, "HTTP/1.1 200");
      socket.getInputStream().skipNBytes(socket.getInputStream().available());
      return answer.equals("HTTP/1.1 200");
    } catch (IOException e) {
      return false;
    }
  }
}
