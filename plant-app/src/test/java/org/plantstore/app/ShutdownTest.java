package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.app.development.DevelopmentKey;

/** SIGTERM: no request fails, and nothing that was answered or logged is lost. */
@Timeout(180)
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class ShutdownTest {

  private static final int CLIENTS = 16;
  private static final long CREATES_BEFORE = 500;

  /** Their lines exceed the capacity of a pipe, but not that of the service's queue. */
  private static final int REQUESTS_BEFORE_THE_END = 600;

  @AutoClose("shutdownNow")
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private final AtomicLong ids = new AtomicLong();
  @AutoClose private @Nullable ServiceProcess started;
  private Database database;
  private SocketFactory sockets = SocketFactory.getDefault();

  @BeforeEach
  void start() throws SQLException {
    database = Database.create();
  }

  /** Over TLS, which has a step more; {@link ProxiesTest} shows it without. */
  @Test
  void service_that_is_asked_to_end_serves_on_and_fails_no_request() throws Exception {
    ServiceProcess service = startOverTls(Map.of("DRAIN_SECONDS", "3"));
    List<Future<Void>> clients = startClients(() -> createUntilTold(service.port));

    long asked = System.nanoTime();
    service.terminate();

    service.awaitReadiness(503);
    try (RawClient late = new RawClient(sockets, service.port)) {
      assertEquals(200, late.create(0));
      assertTrue(late.isLast(), "a client is told to connect elsewhere");
    }
    for (Future<Void> client : clients) {
      client.get();
    }
    assertEquals(ServiceProcess.TERMINATED, service.awaitExit());
    Duration served = Duration.ofNanos(System.nanoTime() - asked);
    assertTrue(served.compareTo(Duration.ofSeconds(3)) >= 0, "ended after " + served);
    assertEquals(ids.get() + 1, database.plants().size());
  }

  /** Without care, the kernel would reset all clients. */
  @Test
  void connections_that_were_accepted_are_answered() throws Exception {
    ServiceProcess service = start(new ServiceProcess(database.environment()));
    List<Future<Integer>> clients = startClients(() -> createUntilRefused(service.port));

    service.terminate();

    int resets = 0;
    for (Future<Integer> client : clients) {
      resets += client.get();
    }
    // A connection is reset if the kernel accepts it between the last accept and the close.
    assertTrue(resets < CLIENTS / 2, resets + " clients were reset");
    assertEquals(ServiceProcess.TERMINATED, service.awaitExit());
  }

  @Test
  void requests_in_each_state_are_answered_and_logged_after_the_port_is_closed() throws Exception {
    ServiceProcess service =
        startOverTls(Map.of("ACCESS_LOG", "on", "DATABASE_TIMEOUT_SECONDS", "60"));
    try (RawClient sent = new RawClient(sockets, service.port);
        RawClient unfinished = new RawClient(sockets, service.port);
        RawClient first = new RawClient(sockets, service.port);
        Socket reader = sockets.createSocket();
        Connection locker = database.lock("plant")) {
      sent.sendHead(0, "{\"id\":1,\"name\":\"fern\"}");
      unfinished.sendHead(1, "{\"id\":2,\"name\":\"fern\"");
      beginReading(reader, service.port);
      database.awaitWaitingSession();

      service.terminate();
      Await.until("the port is closed", () -> !service.isOpen());
      first.sendHead(0, "{\"id\":3,\"name\":\"fern\"}");
      unfinished.send("}");
      readToTheEnd(reader);
      // Longer than the default time that frameworks wait for accepted requests.
      database.execute("SELECT pg_sleep(20)");
      assertTrue(service.isAlive(), "it waits for the creates");
      locker.rollback();

      for (RawClient client : List.of(sent, unfinished, first)) {
        assertEquals(200, client.status());
        assertTrue(client.isLast());
      }
    }
    assertEquals(ServiceProcess.TERMINATED, service.awaitExit());
    assertEquals(3, service.linesWith(" path=/plants status=200 "), service::output);
  }

  private static void beginReading(Socket reader, int port) throws IOException {
    reader.setReceiveBufferSize(16 * 1024);
    reader.connect(new InetSocketAddress("localhost", port));
    String request = "GET /page/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n";
    reader.getOutputStream().write(request.getBytes(ISO_8859_1));
    String begin = "HTTP/1.1 200 OK\r\n";
    assertEquals(begin, new String(reader.getInputStream().readNBytes(begin.length()), ISO_8859_1));
  }

  private static void readToTheEnd(Socket reader) throws IOException {
    String rest = new String(reader.getInputStream().readAllBytes(), ISO_8859_1);
    String[] headAndBody = rest.toLowerCase(Locale.ROOT).split("\r\n\r\n", 2);
    String length = "content-length: " + headAndBody[1].length();
    assertTrue(headAndBody[0].lines().anyMatch(length::equals), length + headAndBody[0]);
  }

  @Test
  void store_that_closes_on_the_event_of_the_framework_sees_no_create_afterwards()
      throws Exception {
    ProcessBuilder command = ServiceProcess.withoutPostgres("", "--closing.store=on");
    // A process that was started with nohup ignores SIGHUP, as do its children.
    String[] probe = {"env", "--default-signal=HUP", "true"};
    Assumptions.assumeTrue(Program.run(Path.of("."), Map.of(), probe).exitCode() == 0);
    command.command().addAll(0, List.of("env", "--default-signal=HUP"));
    Map<String, String> environment =
        Map.of("JWT_SECRET", DevelopmentKey.SECRET, "DRAIN_SECONDS", "1");
    ServiceProcess service = start(new ServiceProcess(command, environment));
    List<Future<Void>> clients = startClients(() -> createUntilTold(service.port));

    service.signal("HUP");

    for (Future<Void> client : clients) {
      client.get();
    }
    assertEquals(129, service.awaitExit());
    assertEquals(1, service.linesWith("the store is closed"), service::output);
    assertEquals("", service.errors());
  }

  @Test
  void service_whose_output_is_not_read_serves_on_and_keeps_lines_for_a_late_reader()
      throws Exception {
    Map<String, String> environment =
        database.environment(Map.of("ACCESS_LOG", "on", "DATABASE_TIMEOUT_SECONDS", "1"));
    ProcessBuilder command = ServiceProcess.java(ServiceProcess.CLASS_PATH);
    ServiceProcess service = start(new ServiceProcess(command, environment, Redirect.PIPE));
    String path = "/" + "x".repeat(250);
    for (int number = 0; number < REQUESTS_BEFORE_THE_END; number++) {
      Map<String, String> id = Map.of("X-Request-Id", "request-" + number);
      assertEquals(401, service.get(path, id).statusCode());
    }
    try (Connection locker = database.lock("plant")) {
      // A line about it is logged before it is answered.
      assertEquals(503, service.create(1, "fern").statusCode());
      locker.rollback();
    }
    assertEquals(200, service.create(1, "fern").statusCode());

    service.terminate();
    Await.until("the port is closed", () -> !service.isOpen());
    // Longer than the default time for flushing a log.
    LockSupport.parkNanos(Duration.ofSeconds(5).toNanos());
    assertTrue(service.isAlive(), "it waits for its reader");
    List<String> log = service.outputReader().lines().toList();
    assertEquals(
        REQUESTS_BEFORE_THE_END,
        log.stream().filter(line -> line.contains("request_id=request-")).count(),
        log::toString);
    assertTrue(log.stream().anyMatch(line -> line.contains(" - Stopped")), log::toString);
    assertEquals(ServiceProcess.TERMINATED, service.awaitExit());
  }

  private ServiceProcess startOverTls(Map<String, String> settings) throws Exception {
    TestCertificate certificate = TestCertificate.issue();
    sockets = certificate.sockets();
    Map<String, String> environment = database.environment(settings);
    environment.putAll(certificate.settings());
    return start(new ServiceProcess(environment));
  }

  private ServiceProcess start(ServiceProcess service) {
    started = service;
    return started.awaitReady();
  }

  /** Returns when the clients have created many plants, and go on. */
  private <T> List<Future<T>> startClients(Callable<T> client) {
    List<Future<T>> clients = Stream.generate(() -> threads.submit(client)).limit(CLIENTS).toList();
    Await.until("creates go on", () -> ids.get() > CREATES_BEFORE);
    return clients;
  }

  /** Creates plants on one connection until an answer asks for another. */
  private Void createUntilTold(int port) throws IOException {
    try (RawClient client = new RawClient(sockets, port)) {
      while (!client.isLast()) {
        assertEquals(200, client.create(ids.incrementAndGet()));
      }
    }
    return null;
  }

  /** Creates each plant on a connection of its own until one is refused (0) or reset (1). */
  private int createUntilRefused(int port) throws IOException {
    while (true) {
      try (RawClient client = new RawClient(sockets, port)) {
        assertEquals(200, client.create(ids.incrementAndGet()));
      } catch (ConnectException refused) {
        return 0;
      } catch (SocketException reset) {
        return 1;
      }
    }
  }
}
