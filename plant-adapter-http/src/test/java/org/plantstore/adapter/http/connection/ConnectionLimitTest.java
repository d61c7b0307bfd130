package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.Tokens;

@Property(name = "max.connections", value = "2")
class ConnectionLimitTest extends ServerTest {

  /**
   * A connection is idle only between requests, so the idle timeout does not limit a create. The
   * request is repeated if the machine stalls for so long that its connection is idle before it.
   */
  @Test
  void create_may_take_longer_than_the_idle_timeout() throws IOException {
    Map<String, Object> settings =
        Map.of("jwt.secret", Tokens.SECRET, "idle.timeout.seconds", 1, "max.connections", 2);
    try (EmbeddedServer impatient = ApplicationContext.run(EmbeddedServer.class, settings)) {
      FakeCreatePlant slow = impatient.getApplicationContext().getBean(FakeCreatePlant.class);
      slow.behave(plant -> {
        // This call returns after the idle timeout.
        assertEquals("", assertDoesNotThrow(() -> send(impatient, "")));
        return plant.plant();
      });
      List<Integer> statuses = List.of();
      while (slow.calls() == 0) {
        try {
          statuses = statuses(send(impatient, createRequest("Connection: close\r\n")));
        } catch (SocketException e) {
          assertEquals(0, slow.calls(), "the connection was reset during the create");
        }
      }
      assertEquals(List.of(200), statuses);
    }
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
