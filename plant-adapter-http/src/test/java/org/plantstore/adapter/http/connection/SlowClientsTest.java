package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.ServerTest;

/** A thousand slow clients at a time, and one that is not slow. */
@Property(name = "request.timeout.seconds", value = "1")
@Timeout(120)
@Tag("slow")
class SlowClientsTest extends ServerTest {

  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(1);
  private static final int CLIENTS = 1_000;

  private final List<Socket> clients = new ArrayList<>();

  @BeforeEach
  void warmUp() {
    assertEquals(200, post(FERN).status());
  }

  @AfterEach
  void close() throws IOException {
    for (Socket client : clients) {
      client.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"head", "body", "answers"})
  void slow_clients_are_closed_in_time_and_delay_no_other(String kind) throws IOException {
    String begin =
        switch (kind) {
          case "head" -> "POST /plants HTTP/1.1\r\nHost: x\r\nX-Slow: ";
          case "body" -> head("POST /plants HTTP/1.1", "Content-Length: 1000\r\n");
          default -> "GET /page/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n".repeat(8);
        };
    for (int client = 0; client < CLIENTS; client++) {
      clients.add(connectWithSmallBuffer());
    }
    long start = System.nanoTime();
    for (Socket client : clients) {
      write(client, begin);
    }
    for (Socket client : kind.equals("answers") ? clients : List.<Socket>of()) {
      awaitAnswer(client);
    }

    for (long open = CLIENTS; open > 0; LockSupport.parkNanos(200_000_000)) {
      open = clients.stream().filter(SlowClientsTest::drips).count();
      long waitedNanos = System.nanoTime() - start;
      assertTrue(open == CLIENTS || waitedNanos >= REQUEST_TIMEOUT.toNanos(), "closed too early");
      assertTrue(waitedNanos < REQUEST_TIMEOUT.plusSeconds(30).toNanos(), "still open");
      assertServed();
    }
  }

  /** Small answers stay below most limits when they are not read. */
  @Test
  void client_that_reads_nothing_is_closed_in_time() throws IOException {
    String requests = "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
    try (Socket client = connectWithSmallBuffer()) {
      long start = System.nanoTime();

      assertThrows(
          IOException.class,
          () -> {
            while (true) {
              write(client, requests);
            }
          });
      assertTrue(System.nanoTime() - start >= REQUEST_TIMEOUT.toNanos(), "closed too early");
    }
    assertServed();
  }

  @Test
  void client_that_is_idle_between_requests_is_served_again() throws IOException {
    try (Socket client = connect()) {
      write(client, createRequest(""));
      assertEquals("HTTP/1.1 200", read(client, "HTTP/1.1 200"));
      LockSupport.parkNanos(REQUEST_TIMEOUT.plusSeconds(1).toNanos());
      write(client, createRequest("Connection: close\r\n"));

      assertEquals(List.of(200), statuses(readAll(client)));
    }
  }

  private Socket connectWithSmallBuffer() throws IOException {
    Socket client = new Socket();
    client.setReceiveBufferSize(4 * 1024);
    client.connect(new InetSocketAddress(server.getHost(), server.getPort()));
    return client;
  }

  /** Waits until an answer begins; a slow machine may have closed the connection before. */
  private static void awaitAnswer(Socket client) {
    try {
      assertEquals('H', client.getInputStream().read());
    } catch (IOException e) {
      // The next byte is not sent either.
    }
  }

  private void assertServed() {
    long start = System.nanoTime();
    assertEquals(200, post(FERN).status());
    // Less than the time-outs of all clients, one after the other.
    assertTrue(System.nanoTime() - start < Duration.ofSeconds(5).toNanos(), "held up");
  }

  /** Sends one more byte, and returns whether the connection was still open. */
  private static boolean drips(Socket client) {
    try {
      write(client, "1");
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
