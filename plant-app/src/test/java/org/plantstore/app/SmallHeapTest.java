package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.SocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Opens more connections, and sends more headers and bodies, than would fit into a small heap if
 * the service did not limit them.
 */
@Tag("slow")
@Isolated
class SmallHeapTest {

  private static final int LARGE_BODIES = 512;
  private static final int OPEN_CONNECTIONS = 5_000;

  /** Stands for the status of a response that the client has not read. */
  private static final int UNREAD = 1;

  private static final int BODY_BYTES = 1_048_576;
  private static final String END = "\"}";

  /**
   * A tag that takes twice as many bytes in memory as in UTF-8, because its last character is not
   * in Latin-1.
   */
  private static final String TAG = "x".repeat(BODY_BYTES - 100) + "\u00d0\u0096";

  @AutoClose private static ServiceProcess service;

  private final List<RawClient> open = new ArrayList<>();

  @BeforeAll
  static void start() throws SQLException {
    ProcessBuilder command =
        ServiceProcess.java(
            // Even a slow machine handles a wave of large bodies within this time.
            List.of("--request-timeout-seconds=120"),
            // These are the start script's options, except for the heap size. The last one is
            // Java's default.
            "-Xmx128m",
            "-XX:-UseSerialGC",
            "-XX:+UseParallelGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:TieredStopAtLevel=4");
    service = new ServiceProcess(command, Database.create().environment()).awaitReady();
  }

  private RawClient connect(int port) throws IOException {
    RawClient client = new RawClient(SocketFactory.getDefault(), port);
    open.add(client);
    return client;
  }

  @AfterEach
  void closeConnections() throws IOException {
    for (RawClient connection : open) {
      connection.close();
    }
    open.clear();
  }

  /** Every second client disconnects without reading its response. */
  @Test
  @Tag("newest")
  void largest_bodies_on_many_connections_do_not_exhaust_the_heap() throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(LARGE_BODIES);
    List<Callable<Integer>> calls = new ArrayList<>();
    for (int id = 0; id < LARGE_BODIES; id++) {
      int plant = id;
      calls.add(() -> largeCreate(plant, plant % 2 == 0));
    }
    Set<Integer> statuses = new TreeSet<>();
    for (Future<Integer> answer : clients.invokeAll(calls)) {
      statuses.add(answer.get());
    }
    clients.shutdown();
    assertTrue(statuses.contains(200), statuses::toString);
    assertTrue(Set.of(200, 503, UNREAD).containsAll(statuses), statuses::toString);
    assertHealthy();
  }

  /** Runs once for each kind of stalled connection, always against the same process. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "head",
        "answered",
        "refused",
        "body",
        "large",
        "continue",
        "size",
        "trailer",
        "unread"
      })
  void connections_with_stalled_clients_do_not_block_other_requests(String kind)
      throws IOException {
    String headers = ("X-Long: " + "x".repeat(120) + "\r\n").repeat(95);
    String anonymous = "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    String head = RawClient.head();
    String begin =
        switch (kind) {
          case "head" -> anonymous + headers;
          case "answered" -> anonymous + "X-Long: " + "x".repeat(15_000) + "\r\n\r\n";
          case "refused" -> anonymous + "Content-Length: 1\r\n\r\n";
          case "body" -> head + "Content-Length: 4096\r\n\r\n" + " ".repeat(4095);
          case "large" -> head + headers + "Content-Length: 9000\r\n\r\n" + " ".repeat(8000);
          case "continue" -> head + "Content-Length: 64\r\nExpect: 100-continue\r\n\r\n";
          case "size" -> head + "Transfer-Encoding: chunked\r\n\r\n1;" + "x".repeat(12_000);
          case "trailer" -> head + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + headers;
          default -> "GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n".repeat(40);
        };
    for (int stranger = 0; stranger < OPEN_CONNECTIONS; stranger++) {
      connect(service.port).send(begin);
    }

    assertHealthy();
  }

  /** None of these clients is slow. */
  @Test
  void many_connections_and_large_headers_at_once_are_all_answered() throws IOException {
    for (int number = 0; number < OPEN_CONNECTIONS; number++) {
      connect(service.port);
    }
    for (RawClient caller : open) {
      assertEquals(200, caller.create(603));
      assertFalse(caller.isClosing());
    }
    List<RawClient> some = open.subList(0, 400);
    for (RawClient caller : some) {
      caller.send(RawClient.head() + "X-Long: " + "x".repeat(14 * 1024));
    }
    String plant = ServiceProcess.json(605, "fern");
    for (RawClient caller : some) {
      caller.send("\r\nContent-Length: " + plant.length() + "\r\n\r\n" + plant);
      assertEquals(200, caller.status());
    }
  }

  /** Lowers the hard limit too, because the JVM raises the soft limit up to the hard limit. */
  @Test
  void open_file_limit_also_limits_connections_and_probes_are_still_answered() throws Exception {
    ProcessBuilder command = ServiceProcess.java(List.of());
    command.command().addAll(0, List.of("sh", "-c", "ulimit -n 1024; exec \"$@\"", "sh"));
    try (ServiceProcess limited =
        new ServiceProcess(command, Database.create().environment()).awaitReady()) {
      for (int number = 0; number < 800; number++) {
        connect(limited.port);
      }
      limited.awaitLine("New connections are being closed because 736 are already open;");
      limited.awaitReady();
      closeConnections();
      Await.until(() -> assertEquals(200, limited.create(604, "fern").statusCode()));
      assertEquals(List.of(), limited.lines("Exception"));
    }
  }

  /** Returns the status, or 0 if the service has closed the connection. */
  private static int largeCreate(int id, boolean readsResponse) {
    String start = "{\"id\":" + id + ",\"name\":\"fern\",\"tag\":\"";
    int padding = BODY_BYTES - start.length() - TAG.length() - END.length();
    try (RawClient client = new RawClient(SocketFactory.getDefault(), service.port)) {
      client.sendCreate(" ".repeat(padding) + start + TAG + END, 0);
      return readsResponse ? client.status() : UNREAD;
    } catch (IOException e) {
      return 0;
    }
  }

  private static void assertHealthy() {
    assertEquals(200, service.create(-1, "fern").statusCode());
    Await.until(() -> assertEquals(200, largeCreate(LARGE_BODIES, true)));
    String log = service.output() + service.errors();
    assertFalse(log.contains("MemoryError:") || log.contains("ERROR"), log);
  }
}
