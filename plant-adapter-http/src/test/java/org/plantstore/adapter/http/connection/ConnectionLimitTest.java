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

  /** A connection is idle only between requests, so the idle timeout does not limit a create. */
  @Test
  void create_may_take_longer_than_the_idle_timeout() throws IOException {
    createPlant.behave(plant -> {
      assertEquals("", assertDoesNotThrow(() -> send(""))); // returns after the idle timeout
      return plant.plant();
    });
    assertEquals(List.of(200), statuses(send(createRequest("Connection: close\r\n"))));
  }

  @Test
  void connection_beyond_the_limit_is_closed_until_another_one_ends() throws IOException {
    try (Socket first = connect(server)) {
      try (Socket second = connect(server)) {
        assertTrue(isServed(first));
        assertTrue(isServed(second));
        assertEquals("", readAll(connect(server)));
        assertTrue(isServed(second));
      }
      // The server notices the end of a connection a moment later.
      for (boolean isAccepted = false; !isAccepted; ) {
        try (Socket next = connect(server)) {
          isAccepted = isServed(next);
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
