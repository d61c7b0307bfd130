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
@Property(name = "request.timeout.seconds", value = "4")
@Timeout(120)
@Tag("slow")
class SlowClientsTest extends ServerTest {

  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(4);
  private static final Duration MARGIN = Duration.ofSeconds(30);
  private static final Duration DRIP = Duration.ofMillis(200);
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
  @ValueSource(strings = {"head", "body", "chunk", "answers"})
  void slow_clients_are_closed_in_time_and_delay_no_other(String kind) throws IOException {
    String begin =
        switch (kind) {
          case "head" -> "POST /plants HTTP/1.1\r\nHost: x\r\nX-Slow: ";
          case "body" -> head("POST /plants HTTP/1.1", "Content-Length: 1000\r\n");
          case "chunk" ->
              head("POST /plants HTTP/1.1", "Transfer-Encoding: chunked\r\n") + "fff\r\n";
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
      assertEquals('H', client.getInputStream().read());
    }

    int open = CLIENTS;
    while (open > 0) {
      open = (int) clients.stream().filter(SlowClientsTest::drips).count();
      Duration waited = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(open == CLIENTS || waited.compareTo(REQUEST_TIMEOUT) >= 0, "closed too early");
      assertTrue(waited.compareTo(REQUEST_TIMEOUT.plus(MARGIN)) < 0, () -> "still open: " + waited);
      assertServed();
      LockSupport.parkNanos(DRIP.toNanos());
    }
  }

  @Test
  void requests_that_stop_behind_whole_ones_are_closed_in_time() throws IOException {
    for (String begin :
        List.of(
            "P",
            "POST /plants HTTP/1.1\r\n",
            "POST /plants HTTP/1.1\r\nHost: x",
            head("POST /plants HTTP/1.1", "Content-Length: 1000\r\n") + "{")) {
      Socket client = connect();
      clients.add(client);
      write(client, createRequest("") + begin);
    }
    for (Socket client : clients) {
      assertEquals(List.of(200), statuses(readAll(client)));
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
      Duration waited = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(waited.compareTo(REQUEST_TIMEOUT) >= 0, () -> "closed after " + waited);
    }
    assertServed();
  }

  @Test
  void client_that_is_idle_between_requests_is_served_again() throws IOException {
    try (Socket client = connect()) {
      write(client, createRequest(""));
      byte[] first = new byte[4096];
      assertTrue(client.getInputStream().read(first) > 0);
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

  private void assertServed() {
    long start = System.nanoTime();
    assertEquals(200, post(FERN).status());
    Duration taken = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(taken.compareTo(REQUEST_TIMEOUT) < 0, () -> "held up for " + taken);
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
