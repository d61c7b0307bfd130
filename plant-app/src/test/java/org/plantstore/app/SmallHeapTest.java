package org.plantstore.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The largest bodies on as many connections as concurrent creates, with a small heap. */
@Tag("slow")
@Isolated
class SmallHeapTest {

  /** The options of the start script, except the size of the heap; the last one is the default. */
  private static final List<String> OPTIONS =
      List.of(
          "-Xmx128m",
          "-XX:-UseSerialGC",
          "-XX:+UseParallelGC",
          "-XX:+ExitOnOutOfMemoryError",
          "-XX:TieredStopAtLevel=4");

  private static final int CONNECTIONS = 1_024;

  /** More than fit into the heap if their memory were not counted. */
  private static final int OPEN_CONNECTIONS = 10_000;

  /** In place of a status: the client has not read it. */
  private static final int UNREAD = 1;

  private static final int BODY_BYTES = 1_048_576;
  private static final String END = "\"}";

  /** In memory this takes twice as many bytes as in UTF-8, because of its last character. */
  private static final String TAG = "x".repeat(BODY_BYTES - 100) + "\u00d0\u0096";

  @AutoClose private static ServiceProcess service;

  @AutoClose("shutdownNow")
  private final ExecutorService clients = Executors.newFixedThreadPool(CONNECTIONS + 1);

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void start() throws SQLException {
    // Longer than a slow machine needs for a wave of large bodies.
    String timeout = "--request.timeout.seconds=120";
    ProcessBuilder command = ServiceProcess.java(ServiceProcess.CLASS_PATH, timeout);
    // After the other options, because the last one counts.
    command.command().addAll(command.command().indexOf("-cp"), OPTIONS);
    service = new ServiceProcess(command, Database.create().environment()).awaitReady();
  }

  @AfterEach
  void closeConnections() throws Exception {
    for (AutoCloseable connection : open) {
      connection.close();
    }
    open.clear();
  }

  @Test
  void ten_thousand_open_connections_are_served() throws IOException {
    List<RawClient> callers = new ArrayList<>();
    for (int number = 0; number < OPEN_CONNECTIONS; number++) {
      callers.add(connect());
      open.add(callers.get(number));
    }
    for (RawClient caller : callers) {
      assertEquals(200, caller.create(603));
      assertFalse(caller.isLast());
    }
  }

  /** Every other client leaves without its answer. */
  @Test
  @Tag("newest")
  void largest_bodies_on_many_connections_are_answered() throws Exception {
    List<Callable<Integer>> calls = new ArrayList<>();
    for (int id = 0; id < CONNECTIONS; id++) {
      int plant = id;
      calls.add(() -> largeCreate(connect(), plant, plant % 2 == 0));
    }
    Set<Integer> statuses = new TreeSet<>();
    for (Future<Integer> answer : clients.invokeAll(calls, 120, TimeUnit.SECONDS)) {
      statuses.add(answer.get());
    }
    assertTrue(statuses.contains(200), statuses.toString());
    assertTrue(Set.of(200, 503, UNREAD).containsAll(statuses), statuses.toString());
    assertWell();
  }

  /** Each kind is one more wave for the same process. */
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
  void connections_that_wait_for_their_clients_are_in_nobodys_way(String kind) throws Exception {
    String headers = ("X-Long: " + "x".repeat(120) + "\r\n").repeat(95);
    String anonymous = "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    String head = anonymous + "Authorization: Bearer " + ServiceProcess.token() + "\r\n";
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
      Socket socket = new Socket("localhost", service.port);
      open.add(socket);
      socket.getOutputStream().write(begin.getBytes(US_ASCII));
    }

    assertWell();
  }

  /** None is a slow client. */
  @Test
  void large_heads_that_begin_at_once_are_all_answered() throws IOException {
    String head =
        "POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
            + ServiceProcess.token()
            + "\r\nContent-Type: application/json\r\nX-Long: "
            + "x".repeat(14 * 1024);
    List<RawClient> callers = new ArrayList<>();
    for (int number = 0; number < 400; number++) {
      RawClient caller = connect();
      open.add(caller);
      callers.add(caller);
      caller.send(head);
    }
    String plant = "{\"id\":605,\"name\":\"fern\"}";
    for (RawClient caller : callers) {
      caller.send("\r\nContent-Length: " + plant.length() + "\r\n\r\n" + plant);
      assertEquals(200, caller.status());
    }
  }

  /** The JVM would raise only the soft limit. */
  @Test
  void the_limit_of_open_files_bounds_the_connections_and_probes_are_answered() throws Exception {
    ProcessBuilder command = ServiceProcess.java(ServiceProcess.CLASS_PATH);
    command.command().addAll(0, List.of("sh", "-c", "ulimit -n 512; exec \"$@\"", "sh"));
    try (ServiceProcess limited =
        new ServiceProcess(command, Database.create().environment()).awaitReady()) {
      for (int number = 0; number < 400; number++) {
        open.add(new Socket("localhost", limited.port));
      }
      limited.awaitLine("Connections are closed because 352 are open;");
      assertEquals(200, limited.readiness());
      closeConnections();
      Await.success(
          "a create has room", () -> assertEquals(200, limited.create(604, "fern").statusCode()));
      limited.awaitLine("At most 352 connections can be open");
      assertEquals(0, limited.linesWith("Exception"), limited::output);
    }
  }

  private RawClient connect() throws IOException {
    return new RawClient(SocketFactory.getDefault(), service.port);
  }

  private static int largeCreate(RawClient client, int id, boolean isRead) {
    try (client) {
      String start = "{\"id\":" + id + ",\"name\":\"fern\",\"tag\":\"";
      int white = BODY_BYTES - start.length() - TAG.length() - END.length();
      client.sendHead(0, " ".repeat(white) + start + TAG + END);
      return isRead ? client.status() : UNREAD;
    } catch (IOException e) {
      return 0; // the service has closed the connection
    }
  }

  private void assertWell() {
    assertEquals(200, service.create(-1, "fern").statusCode());
    Await.until("a large body is read", () -> largeCreate(connect(), CONNECTIONS, true) == 200);
    String log = service.output() + service.errors();
    assertFalse(log.contains("MemoryError:"), log);
    assertFalse(log.contains("ERROR"), log);
  }
}
