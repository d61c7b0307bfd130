package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

  private static final Pattern CONTENT_LENGTH = Pattern.compile("(?i)content-length: (\\d+)");
  private static final Pattern REQUEST_ID = Pattern.compile("request_id=(request-\\d+)");

  @AutoClose("shutdownNow")
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private final AtomicLong ids = new AtomicLong();
  @AutoClose private @Nullable ServiceProcess started;
  private Database database;

  @BeforeEach
  void start() throws SQLException {
    database = Database.create();
  }

  /** Over TLS, which has a step more; {@link ProxiesTest} shows it without. */
  @Test
  void service_that_is_asked_to_end_serves_on_and_fails_no_request() throws Exception {
    TestCertificate certificate = TestCertificate.issue();
    Map<String, String> settings = new HashMap<>(certificate.settings());
    settings.put("DRAIN_SECONDS", "3");
    ServiceProcess service = start(settings);
    SocketFactory sockets = certificate.sockets();
    List<Future<Void>> clients = startClients(() -> createUntilTold(sockets, service.port));
    Await.until("creates go on", () -> ids.get() > CREATES_BEFORE);

    long asked = System.nanoTime();
    service.terminate();

    service.awaitReadiness(503);
    try (RawClient late = new RawClient(sockets, service.port, ServiceProcess.token())) {
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
    ServiceProcess service = start(Map.of());
    List<Future<Integer>> clients = startClients(() -> createUntilRefused(service.port));
    Await.until("creates go on", () -> ids.get() > CREATES_BEFORE);

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
    TestCertificate certificate = TestCertificate.issue();
    Map<String, String> settings = new HashMap<>(certificate.settings());
    settings.putAll(Map.of("ACCESS_LOG", "on", "DATABASE_TIMEOUT_SECONDS", "60"));
    ServiceProcess service = start(settings);
    SocketFactory sockets = certificate.sockets();
    String token = ServiceProcess.token();
    try (RawClient sent = new RawClient(sockets, service.port, token);
        RawClient unfinished = new RawClient(sockets, service.port, token);
        RawClient first = new RawClient(sockets, service.port, token);
        Socket reader = sockets.createSocket();
        Connection locker = database.lock("plant");
        Statement statement = locker.createStatement()) {
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
      statement.execute("SELECT pg_sleep(20)");
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
    Matcher length = CONTENT_LENGTH.matcher(rest);
    assertTrue(length.find(), rest);
    assertEquals(Integer.parseInt(length.group(1)), rest.length() - rest.indexOf("\r\n\r\n") - 4);
  }

  @Test
  void store_that_closes_on_the_event_of_the_framework_sees_no_create_afterwards()
      throws Exception {
    ProcessBuilder command = ServiceProcess.withoutPostgres("", "--closing.store=on");
    requireDefault("HUP", command);
    ServiceProcess service =
        start(
            new ServiceProcess(
                command, Map.of("JWT_SECRET", DevelopmentKey.SECRET, "DRAIN_SECONDS", "1")));
    List<Future<Void>> clients =
        startClients(() -> createUntilTold(SocketFactory.getDefault(), service.port));
    Await.until("creates go on", () -> ids.get() > CREATES_BEFORE);

    service.signal("HUP");

    for (Future<Void> client : clients) {
      client.get();
    }
    assertEquals(129, service.awaitExit());
    assertEquals(1, service.linesWith("the store is closed"), service::output);
    assertEquals("", service.errors());
  }

  /** A process that was started with nohup ignores SIGHUP, as do its children. */
  private static void requireDefault(String signal, ProcessBuilder command) throws IOException {
    List<String> env = List.of("env", "--default-signal=" + signal);
    String[] probe = {env.get(0), env.get(1), "true"};
    Assumptions.assumeTrue(Program.run(Path.of("."), Map.of(), probe).exitCode() == 0);
    command.command().addAll(0, env);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void service_whose_output_is_not_read_serves_on_and_keeps_lines_for_a_late_reader(boolean isRead)
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
    if (isRead) {
      Await.until("the port is closed", () -> !service.isOpen());
      // Longer than the default time for flushing a log.
      LockSupport.parkNanos(Duration.ofSeconds(5).toNanos());
      assertTrue(service.isAlive(), "it waits for its reader");
      String log;
      try (BufferedReader output = service.outputReader()) {
        log = output.lines().collect(Collectors.joining("\n"));
      }
      assertEquals(REQUESTS_BEFORE_THE_END, REQUEST_ID.matcher(log).results().count(), log);
      assertTrue(log.contains(" - Stopped"), log);
    }
    assertEquals(ServiceProcess.TERMINATED, service.awaitExit());
  }

  private ServiceProcess start(Map<String, String> settings) {
    return start(new ServiceProcess(database.environment(settings)));
  }

  private ServiceProcess start(ServiceProcess service) {
    started = service;
    return started.awaitReady();
  }

  private <T> List<Future<T>> startClients(Callable<T> client) {
    List<Future<T>> clients = new ArrayList<>();
    for (int number = 0; number < CLIENTS; number++) {
      clients.add(threads.submit(client));
    }
    return clients;
  }

  /** Creates plants on one connection until an answer asks for another. */
  private Void createUntilTold(SocketFactory sockets, int port) throws IOException {
    try (RawClient client = new RawClient(sockets, port, ServiceProcess.token())) {
      while (!client.isLast()) {
        assertEquals(200, client.create(ids.incrementAndGet()));
      }
    }
    return null;
  }

  /** Creates each plant on a connection of its own until one is refused (0) or reset (1). */
  private int createUntilRefused(int port) throws IOException {
    String token = ServiceProcess.token();
    while (true) {
      try (RawClient client = new RawClient(port, token)) {
        assertEquals(200, client.create(ids.incrementAndGet()));
      } catch (ConnectException refused) {
        return 0;
      } catch (SocketException reset) {
        return 1;
      }
    }
  }
}
