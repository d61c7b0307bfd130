package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
      requireServed(first);
      try (Socket second = connect(server)) {
        requireServed(second);
        try (Socket third = connect(server)) {
          assertEquals(-1, third.getInputStream().read());
        }
        requireServed(first);
        requireServed(second);
      }
      awaitServed();
      requireServed(first);
    }
  }

  /** The server learns a moment later that a connection has ended. */
  private void awaitServed() {
    boolean served = false;
    while (!served) {
      try (Socket socket = connect(server)) {
        requireServed(socket);
        served = true;
      } catch (IOException e) {
        assertFalse(Thread.interrupted(), "waited in vain for room");
      }
    }
  }

  private static void requireServed(Socket socket) throws IOException {
    write(socket, createRequest(""));
    String answer = read(socket, CREATED);
    if (!answer.equals(CREATED)) {
      throw new IOException("not served: " + answer);
    }
    socket.getInputStream().skipNBytes(socket.getInputStream().available());
  }
}
