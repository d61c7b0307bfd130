package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;

/** SIGTERM: no request fails, and nothing that was answered or logged is lost. */
@Timeout(180)
@Tag("slow")
class ShutdownTest {

  private static final int CLIENTS = 16;
  private static final long CREATES_BEFORE = 500;

  /** Their lines are much more than a pipe holds, and fewer than may wait in the service. */
  private static final int REQUESTS_BEFORE_THE_END = 600;

  /** Longer than a log is given by default to write what it has. */
  private static final Duration DELAY_OF_THE_READER = Duration.ofSeconds(5);

  private static final Pattern CONTENT_LENGTH = Pattern.compile("(?i)content-length: (\\d+)");
  private static final Pattern REQUEST_ID = Pattern.compile("request_id=(request-\\d+)");
  private static final Duration EXIT_TIMEOUT = Duration.ofSeconds(60);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong created = new AtomicLong();
  private final List<ServiceProcess> services = new ArrayList<>();
  private EmbeddedPostgres database;

  @BeforeEach
  void start() throws IOException {
    database = EmbeddedDatabase.start();
  }

  @AfterEach
  void stop() throws IOException {
    threads.shutdownNow();
    services.forEach(ServiceProcess::close);
    database.close();
  }

  @Test
  @Execution(CONCURRENT)
  void service_that_is_asked_to_end_serves_on_and_fails_no_request() throws Exception {
    ServiceProcess service = startService("3");
    int port = service.address().getPort();
    List<Future<?>> clients = startClients(() -> createUntilLast(port));
    awaitCreates(CREATES_BEFORE);

    long asked = System.nanoTime();
    service.terminate();

    service.awaitReadiness(503);
    assertEquals(200, service.health("liveness").statusCode());
    try (KeepAliveClient late = new KeepAliveClient(port)) {
      assertEquals(200, late.create(ids.incrementAndGet()));
      created.incrementAndGet();
      assertTrue(late.isLast(), "a client is told to connect elsewhere");
    }
    for (Future<?> client : clients) {
      client.get();
    }
    assertEquals(0, service.awaitExit(EXIT_TIMEOUT));
    Duration served = Duration.ofNanos(System.nanoTime() - asked);
    assertTrue(served.compareTo(Duration.ofSeconds(3)) >= 0, "ended after " + served);
    assertEquals(created.get(), storedPlants());
  }

  @Test
  @Execution(CONCURRENT)
  void create_that_takes_long_is_answered_and_logged_before_the_end() throws Exception {
    Map<String, String> environment = EmbeddedDatabase.environment(database);
    environment.put("ACCESS_LOG", "on");
    environment.put("DATABASE_TIMEOUT_SECONDS", "60");
    ServiceProcess service = start(new ServiceProcess(environment));
    service.document();
    try (Connection locker = database.getPostgresDatabase().getConnection();
        Statement statement = locker.createStatement()) {
      locker.setAutoCommit(false);
      statement.execute("LOCK TABLE plant");
      Future<HttpResponse<String>> waiting =
          threads.submit(() -> service.create("{\"id\":1,\"name\":\"fern\"}"));
      EmbeddedDatabase.awaitWhoWaitsForALock(statement);

      service.terminate();
      // Longer than frameworks wait by default.
      statement.execute("SELECT pg_sleep(20)");
      assertTrue(service.isAlive(), "it waits for the create");
      locker.rollback();

      assertEquals(200, waiting.get().statusCode());
    }
    assertEquals(0, service.awaitExit(EXIT_TIMEOUT));
    assertTrue(service.output().contains(" path=/plants status=200 "), service::output);
  }

  @Test
  @Execution(CONCURRENT)
  void service_whose_java_leaves_sigterm_to_the_system_says_so() {
    Map<String, String> environment = EmbeddedDatabase.environment(database);
    environment.put("JDK_JAVA_OPTIONS", "-Xrs");
    ServiceProcess service = start(new ServiceProcess(environment));

    assertTrue(
        service.output().contains(" - SIGTERM will end the service without draining it: "),
        service::output);
  }

  @Test
  @Execution(CONCURRENT)
  void answer_that_is_being_read_is_sent_to_its_end() throws Exception {
    ServiceProcess service = startService("0");
    try (Socket client = new Socket()) {
      client.setReceiveBufferSize(16 * 1024);
      client.connect(new InetSocketAddress("localhost", service.address().getPort()));
      String request = "GET /page/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n";
      client.getOutputStream().write(request.getBytes(US_ASCII));
      String begin = "HTTP/1.1 200 OK\r\n";
      InputStream answer = client.getInputStream();
      assertEquals(begin, new String(answer.readNBytes(begin.length()), US_ASCII));

      service.terminate();
      while (service.isOpen()) {
        LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
      }
      String rest = new String(answer.readAllBytes(), ISO_8859_1);

      Matcher length = CONTENT_LENGTH.matcher(rest);
      assertTrue(length.find(), rest);
      assertEquals(Integer.parseInt(length.group(1)), rest.length() - rest.indexOf("\r\n\r\n") - 4);
    }
    assertEquals(0, service.awaitExit(EXIT_TIMEOUT));
  }

  @Test
  @Execution(CONCURRENT)
  void access_log_is_written_to_its_end_for_a_reader_who_is_behind() throws Exception {
    Map<String, String> environment = EmbeddedDatabase.environment(database);
    environment.put("ACCESS_LOG", "on");
    ServiceProcess service = start(ServiceProcess.withHeldOutput(environment));
    Set<String> unseen = fillOutput(service);

    service.terminate();
    while (service.isOpen()) {
      LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
    }
    LockSupport.parkNanos(DELAY_OF_THE_READER.toNanos());

    assertTrue(service.isAlive(), "it waits for its reader");
    List<String> lines;
    try (BufferedReader output = service.heldOutput()) {
      lines = output.lines().toList();
    }
    lines.stream()
        .flatMap(line -> REQUEST_ID.matcher(line).results())
        .forEach(logged -> unseen.remove(logged.group(1)));
    assertEquals(Set.of(), unseen, "requests without a line");
    assertTrue(lines.stream().anyMatch(line -> line.endsWith(" - Stopped")), "the last line");
    assertEquals(0, service.awaitExit(EXIT_TIMEOUT));
  }

  @Test
  @Execution(CONCURRENT)
  void service_whose_output_nobody_reads_serves_on_and_ends() throws Exception {
    Map<String, String> environment = EmbeddedDatabase.environment(database);
    environment.put("ACCESS_LOG", "on");
    environment.put("DATABASE_TIMEOUT_SECONDS", "1");
    ServiceProcess service = start(ServiceProcess.withHeldOutput(environment));
    fillOutput(service);

    try (Connection locker = database.getPostgresDatabase().getConnection()) {
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE plant");
      // A line about it is logged before it is answered.
      assertEquals(503, service.create("{\"id\":1,\"name\":\"fern\"}").statusCode());
    }
    assertEquals(200, service.create("{\"id\":1,\"name\":\"fern\"}").statusCode());

    service.terminate();
    assertEquals(0, service.awaitExit(EXIT_TIMEOUT));
  }

  /** Has more lines logged than a pipe holds, and answers the ids of the requests in them. */
  private static Set<String> fillOutput(ServiceProcess service) {
    String path = "/" + "x".repeat(250);
    Set<String> ids = new HashSet<>();
    for (int number = 0; number < REQUESTS_BEFORE_THE_END; number++) {
      String id = "request-" + number;
      assertEquals(401, service.get(path, Map.of("X-Request-Id", id)).statusCode());
      ids.add(id);
    }
    return ids;
  }

  @Test
  @Execution(CONCURRENT)
  void services_that_are_restarted_in_turn_behind_a_balancer_fail_no_request() throws Exception {
    AtomicBoolean enough = new AtomicBoolean();
    try (Balancer balancer = new Balancer()) {
      ServiceProcess first = startService("2");
      ServiceProcess second = startService("2");
      balancer.add(first);
      balancer.add(second);
      List<Future<?>> clients =
          startClients(() -> {
            while (!enough.get()) {
              createUntilLast(balancer.port(), enough);
            }
            return null;
          });

      for (ServiceProcess old : List.of(first, second)) {
        awaitCreates(created.get() + CREATES_BEFORE);
        old.terminate();
        assertEquals(0, old.awaitExit(EXIT_TIMEOUT));
        balancer.remove(old);
        balancer.add(startService("2"));
      }
      awaitCreates(created.get() + CREATES_BEFORE);
      enough.set(true);

      for (Future<?> client : clients) {
        client.get();
      }
      assertEquals(created.get(), storedPlants());
    }
  }

  private ServiceProcess startService(String drainSeconds) {
    Map<String, String> environment = EmbeddedDatabase.environment(database);
    environment.put("DRAIN_SECONDS", drainSeconds);
    return start(new ServiceProcess(environment));
  }

  private ServiceProcess start(ServiceProcess service) {
    services.add(service);
    return service.awaitReady();
  }

  private List<Future<?>> startClients(Callable<?> client) {
    List<Future<?>> clients = new ArrayList<>();
    for (int number = 0; number < CLIENTS; number++) {
      clients.add(threads.submit(client));
    }
    return clients;
  }

  private Void createUntilLast(int port) throws IOException {
    return createUntilLast(port, new AtomicBoolean());
  }

  private Void createUntilLast(int port, AtomicBoolean enough) throws IOException {
    try (KeepAliveClient client = new KeepAliveClient(port)) {
      while (!client.isLast() && !enough.get()) {
        assertEquals(200, client.create(ids.incrementAndGet()));
        created.incrementAndGet();
      }
    }
    return null;
  }

  private void awaitCreates(long number) throws InterruptedException {
    while (created.get() < number) {
      Thread.sleep(10);
    }
  }

  private long storedPlants() throws SQLException {
    return Long.parseLong(EmbeddedDatabase.single(database, "SELECT count(*) FROM plant"));
  }
}
