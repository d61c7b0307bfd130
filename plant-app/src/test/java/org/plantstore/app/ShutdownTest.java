package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.fixture.TestCertificate;

/** Stops the service with SIGTERM. No request fails, and no plant or log line is lost. */
@Tag("slow")
class ShutdownTest {

  private static final int CLIENTS = 16;
  private static final SocketFactory PLAIN = SocketFactory.getDefault();

  /**
   * The log lines of this many requests exceed the capacity of a pipe and of the service's queue of
   * log lines.
   */
  private static final int UNREAD_REQUESTS = 6_000;

  @AutoClose("shutdownNow")
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong created = new AtomicLong();
  private volatile boolean isUnready;

  /**
   * Until the readiness probe fails, half of the clients open a connection for each request, as
   * load balancers do.
   */
  @Test
  void service_serves_requests_while_it_drains_and_resets_no_connection() throws Exception {
    Database database = Database.create();
    try (ServiceProcess service =
        new ServiceProcess(database.environment("DRAIN_SECONDS", "10")).awaitReady()) {
      List<Future<?>> clients = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        clients.add(threads.submit(() -> createUntilClosing(service.port)));
        clients.add(threads.submit(() -> createUntilUnready(service.port)));
      }
      Await.until(() -> assertTrue(created.get() > 500, "creates must continue"));

      long stopped = System.nanoTime();
      service.terminate();

      service.awaitReadiness(503);
      long before = created.get();
      Await.until(() -> assertTrue(created.get() > before + CLIENTS, "creates must continue"));
      isUnready = true;
      for (Future<?> client : clients) {
        client.get();
      }
      assertEquals(ServiceProcess.TERMINATED, service.awaitExit());
      Duration served = Duration.ofNanos(System.nanoTime() - stopped);
      assertTrue(served.compareTo(Duration.ofSeconds(10)) >= 0, "ended after " + served);
      assertTrue(database.plants().size() >= created.get(), "acknowledged plants are missing");
    }
  }

  /** Creates plants on one connection until a response contains {@code Connection: close}. */
  private @Nullable Void createUntilClosing(int port) throws IOException {
    try (RawClient client = new RawClient(PLAIN, port)) {
      while (!client.isClosing()) {
        createNext(client);
      }
    }
    return null;
  }

  /** Creates each plant on its own connection. No connection may be refused or reset. */
  private @Nullable Void createUntilUnready(int port) throws IOException {
    while (!isUnready) {
      try (RawClient client = new RawClient(PLAIN, port)) {
        createNext(client);
      }
    }
    return null;
  }

  private void createNext(RawClient client) throws IOException {
    assertEquals(200, client.create(ids.incrementAndGet()));
    created.incrementAndGet();
  }

  /** The service waits 5 s for a first request, which is too short if the machine stalls. */
  @Test
  @Timeout(900)
  void requests_in_each_state_are_answered_and_logged_after_the_port_is_closed() throws Throwable {
    TimeLimits.check(this::answerAfterThePortIsClosed);
  }

  /** Uses TLS, because it adds a step to each connection. */
  private void answerAfterThePortIsClosed() throws Exception {
    Database database = Database.create();
    SocketFactory sockets = TestCertificate.TRUST.getSocketFactory();
    Map<String, String> environment = database.environment("ACCESS_LOG", "on");
    environment.putAll(TestCertificate.settings("TLS_CERTIFICATE", "TLS_KEY"));
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady();
        RawClient sent = new RawClient(sockets, service.port);
        RawClient unfinished = new RawClient(sockets, service.port);
        RawClient first = new RawClient(sockets, service.port);
        Connection locker = database.lock("plant")) {
      sent.sendCreate("{\"id\":1,\"name\":\"fern\"}", 0);
      unfinished.sendCreate("{\"id\":2,\"name\":\"fern\"", 1);
      String waits =
          "SELECT count(*) > 0 FROM pg_stat_activity"
              + " WHERE wait_event_type = 'Lock' AND datname = current_database()";
      Await.until(() -> assertEquals("t", database.single(waits)));

      service.terminate();
      Await.until(() -> assertFalse(ServiceProcess.isOpen(service.port), "the port is open"));
      unfinished.send("}");
      try {
        first.sendCreate("{\"id\":3,\"name\":\"fern\"}", 0);
        locker.rollback();
        assertAnswered(first);
      } catch (IOException closed) {
        TimeLimits.expect(false, closed.toString());
      }
      assertAnswered(sent);
      assertAnswered(unfinished);
      assertEquals(ServiceProcess.TERMINATED, service.awaitExit());
      List<String> lines = service.lines("org.plantstore.access");
      assertEquals(3, lines.size(), lines::toString);
      String line =
          "[-0-9T:.]+Z INFO  \\[.*] org.plantstore.access \\[request_id=.*] - request method=POST"
              + " path=/plants status=200 error=- outcome=created duration_ms=[0-9.]+ bytes=15"
              + " caller=developer";
      lines.forEach(each -> assertTrue(each.matches(line), each));
    }
  }

  private static void assertAnswered(RawClient client) throws IOException {
    assertEquals(200, client.status());
    assertTrue(client.isClosing());
  }

  /** The service waits 10 s for a reader, which is too short if the machine stalls. */
  @Test
  @Timeout(900)
  void service_whose_log_nobody_reads_keeps_serving_and_saves_lines_for_a_late_reader()
      throws Throwable {
    TimeLimits.check(this::readLate);
  }

  private void readLate() throws Exception {
    Map<String, String> environment = Database.create().environment("ACCESS_LOG", "on");
    ProcessBuilder command = ServiceProcess.java(List.of());
    try (ServiceProcess service =
            new ServiceProcess(command, environment, Redirect.PIPE).awaitReady();
        RawClient caller = new RawClient(PLAIN, service.port);
        BufferedReader log = service.process.inputReader(UTF_8)) {
      String requests = ("GET /" + "x".repeat(250) + " HTTP/1.1\r\nHost: x\r\n\r\n").repeat(100);
      for (int number = 0; number < UNREAD_REQUESTS; number++) {
        if (number % 100 == 0) {
          caller.send(requests);
        }
        assertEquals(401, caller.status());
      }
      assertEquals(200, caller.create(1));

      service.terminate();
      Await.until(() -> assertFalse(ServiceProcess.isOpen(service.port), "the port is open"));
      List<String> lines = log.lines().toList();
      assertEquals(ServiceProcess.TERMINATED, service.awaitExit());

      long written = lines.stream().filter(line -> line.contains("plantstore.access")).count();
      TimeLimits.expect(written > UNREAD_REQUESTS / 2, written + " lines were written");
    }
  }
}
