package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.ServerTest;

/** Tests a thousand slow clients and, at the same time, one that is not slow. */
@Property(name = "request.timeout.seconds", value = "1")
@Tag("slow")
class SlowClientsTest extends ServerTest {

  private static final int CLIENTS = 1_000;

  @ParameterizedTest
  @ValueSource(strings = {"head", "body", "refused body"})
  void slow_clients_are_disconnected_and_do_not_delay_others(String kind) throws IOException {
    String begin =
        switch (kind) {
          case "head" -> "POST /plants HTTP/1.1\r\nHost: x";
          case "body" -> head("POST /plants HTTP/1.1", "Content-Length: 1000\r\n");
          default -> // has no token, and is large enough to be refused before it is complete
              "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
                  + "x".repeat(5_000);
        };
    assertServed();
    List<Socket> clients = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      clients.add(connect(server));
    }
    long start = System.nanoTime();
    for (Socket client : clients) {
      write(client, begin);
    }

    for (long open = CLIENTS; open > 0; LockSupport.parkNanos(200_000_000)) {
      open = clients.stream().filter(SlowClientsTest::sendsByte).count();
      long waitedSeconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
      assertTrue(open == CLIENTS || waitedSeconds >= 1, "a connection was closed too early");
      assertTrue(waitedSeconds < 120, "a connection is still open");
      assertServed();
    }
    for (Socket client : clients) {
      client.close();
    }
  }

  /**
   * Sends a whole request at once, because even this client must not be slow. The time limit for
   * its response is far less than the sum of the timeouts of all clients.
   */
  private void assertServed() throws IOException {
    assertEquals(List.of(200), statuses(send(createRequest("Connection: close\r\n"))));
  }

  /** Sends one byte, and returns whether the connection is still open. */
  private static boolean sendsByte(Socket client) {
    try {
      write(client, "1");
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
