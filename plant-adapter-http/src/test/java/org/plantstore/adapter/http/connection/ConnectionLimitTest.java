package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.connection.RawRequests.connect;
import static org.plantstore.adapter.http.connection.RawRequests.createRequest;
import static org.plantstore.adapter.http.connection.RawRequests.read;
import static org.plantstore.adapter.http.connection.RawRequests.write;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.http.Tokens;

/** More connections than the service keeps open. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@Property(name = "max.connections", value = "2")
class ConnectionLimitTest {

  private static final String CREATED = "HTTP/1.1 200 OK";

  @Inject EmbeddedServer server;

  @Test
  @Timeout(60)
  void connection_beyond_the_limit_is_closed_and_one_that_ends_makes_room() throws IOException {
    try (Socket first = connect(server)) {
      assertTrue(isServed(first));
      try (Socket second = connect(server)) {
        assertTrue(isServed(second));
        try (Socket third = connect(server)) {
          assertEquals(-1, third.getInputStream().read());
        }
        assertTrue(isServed(first));
        assertTrue(isServed(second));
      }
      // The server learns a moment later that a connection has ended.
      boolean isRoom = false;
      while (!isRoom) {
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
      String answer = read(socket, CREATED);
      socket.getInputStream().skipNBytes(socket.getInputStream().available());
      return answer.equals(CREATED);
    } catch (IOException e) {
      return false;
    }
  }
}
