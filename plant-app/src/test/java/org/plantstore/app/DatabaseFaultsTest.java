package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.plantstore.fixture.DatabaseServer;

/**
 * Faults of the database and its network, and overload. During a fault, create requests receive 503
 * within the deadline. Within 5 s after the fault ends, the same process answers create requests
 * with 200 again.
 */
@Tag("slow")
@Isolated
class DatabaseFaultsTest {

  private static final int MAX_CREATES = 100;
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** Additional time for a busy machine. */
  private static final Duration MARGIN = Duration.ofMillis(1_500);

  private static final Duration RECOVERY = Duration.ofSeconds(5);
  private static final String AWAY = "The database is unavailable: ";
  private static final String BACK = "The database is available again";
  private static final String REFUSALS = "Create requests failed with error 5002";
  private static final String END_SESSIONS =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gardener'";

  private static final AtomicLong NEXT_ID = new AtomicLong();

  @TempDir static Path data;

  @AutoClose private static DatabaseServer server;
  @AutoClose private static NetworkProxy proxy;
  @AutoClose private static ServiceProcess service;

  @BeforeAll
  static void start() throws SQLException {
    server = new DatabaseServer(data);
    execute("CREATE ROLE gardener LOGIN", "GRANT CREATE ON SCHEMA public TO gardener");
    proxy = new NetworkProxy(server.port());
    // Otherwise, the driver itself gives up on a server that does not answer its TLS request.
    Map<String, String> environment =
        Database.environmentAt(
            "127.0.0.1:" + proxy.port() + "/postgres?sslmode=disable",
            "DATABASE_USERNAME",
            "gardener",
            "DATABASE_TIMEOUT_SECONDS",
            String.valueOf(DEADLINE.toSeconds()),
            "MAX_CONCURRENT_CREATES",
            String.valueOf(MAX_CREATES),
            "JAVA_TOOL_OPTIONS",
            "-Xmx64m");
    service = new ServiceProcess(environment).awaitReady();
  }

  /** The faults, and how each one begins. */
  @SuppressWarnings("ImmutableEnumChecker") // the steps have no state of their own
  enum Fault {
    DOWN(() -> proxy.refuse()),
    /** Simulates a host that vanishes, so that earlier requests are never answered either. */
    SILENT(() -> {
      proxy.acceptNothing();
      proxy.abandonConnections();
    }),
    OUT_OF_CONNECTIONS(() -> {
      execute("ALTER ROLE gardener CONNECTION LIMIT 0");
      do { // a session may have begun just before the limit
        execute(END_SESSIONS);
      } while (create().statusCode() == 200);
    }),
    /** The service waits for a moment before it tries the role again. */
    REFUSED_ROLE(() -> execute("ALTER ROLE gardener NOLOGIN", END_SESSIONS));

    private final Executable begin;

    Fault(Executable begin) {
      this.begin = begin;
    }
  }

  @ParameterizedTest
  @EnumSource
  void creates_fail_within_the_deadline_and_succeed_soon_after_the_fault(Fault fault)
      throws Throwable {
    assertEquals(200, create().statusCode());
    // The store may have lost its only connection in the previous test.
    Await.until(() -> assertEquals(service.lines(AWAY).size(), service.lines(BACK).size()));
    final long began = System.nanoTime();
    final int linesBefore = service.lines(REFUSALS).size();
    final int outages = service.lines(AWAY).size();

    fault.begin.execute();
    try {
      CompletableFuture<Void> notReady =
          CompletableFuture.runAsync(
              () -> assertWithin(Duration.ofSeconds(4), () -> service.awaitReadiness(503)));
      for (int time = 0; time < 2; time++) {
        assertWithin(DEADLINE, DatabaseFaultsTest::assertAllAreRefused);
      }
      notReady.join();
      assertEquals("{\"status\":\"DOWN\"}", health("readiness"));
      assertEquals("{\"status\":\"UP\"}", health("liveness"));
      assertEquals(0, metric("plant_store_database_up"));
      int lines = service.lines(REFUSALS).size() - linesBefore;
      long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
      assertTrue(lines >= 1 && lines <= seconds + 2, lines + " lines in " + seconds + " s");
    } finally {
      proxy.heal();
      execute("ALTER ROLE gardener LOGIN CONNECTION LIMIT -1");
    }

    assertWithin(
        fault == Fault.REFUSED_ROLE ? RECOVERY.plusSeconds(5) : RECOVERY,
        () -> Await.until(() -> assertEquals(200, create().statusCode())));
    service.awaitReady();
    Await.until(() -> assertTrue(service.lines(BACK).size() > outages, BACK));
    assertEquals(outages + 1, service.lines(BACK).size(), service::output);
    assertEquals(outages + 1, service.lines(AWAY).size(), service::output);
    assertFalse(service.output().contains("\tat "), "the log contains a stack trace");
  }

  private static void assertAllAreRefused() {
    for (HttpResponse<String> response : responses(beginCreates(40))) {
      assertTrue(response.body().startsWith("{\"error\":5002,"), response.body());
      assertEquals(503, response.statusCode());
      assertTrue(response.headers().firstValue("Retry-After").orElse("").matches("[1-3]"));
    }
  }

  /** Checks the times that the service measured, because callers also wait for a processor. */
  @Test
  void creates_beyond_the_limit_are_refused_early_and_waiting_creates_hold_no_thread()
      throws SQLException {
    responses(beginCreates(10 * MAX_CREATES)); // loads the classes before the measurement
    try (Connection locker = Database.of(server).lock("plant")) {
      List<HttpResponse<String>> responses = responses(beginCreates(10 * MAX_CREATES));

      long waited = count(responses, "{\"error\":5002,");
      // Some callers may have arrived after earlier callers had received their responses.
      assertTrue(waited >= MAX_CREATES && waited <= 4 * MAX_CREATES, waited + " creates waited");
      assertEquals(10 * MAX_CREATES, waited + count(responses, "{\"error\":5003,"));
      assertTrue(slowest("5002") < DEADLINE.plus(MARGIN).toMillis(), service::metrics);
      assertTrue(slowest("5003") < DEADLINE.toMillis(), service::metrics);
      // The service stays ready, because another instance could not serve these callers either.
      assertEquals(200, service.readiness());
      assertEquals(1, metric("plant_store_database_up"));
      locker.rollback();
    }

    String waits = "plant_store_queue_wait_seconds_count";
    double idle = metric("jvm_threads_live_threads");
    double before = metric(waits);
    execute(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS"
            + " 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'",
        "CREATE TRIGGER wait AFTER INSERT ON plant EXECUTE FUNCTION wait()");
    List<CompletableFuture<HttpResponse<String>>> calls = beginCreates(MAX_CREATES);
    Await.until(() -> assertTrue(metric(waits) - before >= MAX_CREATES, "not all wait"));
    double threads = metric("jvm_threads_live_threads");
    assertTrue(threads - idle <= 20, threads + " threads instead of " + idle);
    responses(calls).forEach(response -> assertEquals(200, response.statusCode()));
    execute("DROP FUNCTION wait CASCADE");
  }

  private static double slowest(String error) {
    String labels = "{error=\"" + error + "\",outcome=\"failed\"}";
    return 1_000 * metric("plant_store_requests_seconds_max" + labels);
  }

  private static double metric(String series) {
    String metrics = service.metrics();
    return Double.parseDouble(
        metrics.substring(metrics.indexOf("\n" + series + " ") + 1).split("[ \n]", 3)[1]);
  }

  private static long count(List<HttpResponse<String>> responses, String start) {
    return responses.stream().filter(response -> response.body().startsWith(start)).count();
  }

  private static List<CompletableFuture<HttpResponse<String>>> beginCreates(int number) {
    return Stream.generate(() -> service.beginCreate(fern())).limit(number).toList();
  }

  private static List<HttpResponse<String>> responses(
      List<CompletableFuture<HttpResponse<String>>> calls) {
    return calls.stream().map(CompletableFuture::join).toList();
  }

  private static void assertWithin(Duration limit, Executable call) {
    assertTimeout(limit.plus(MARGIN), call);
  }

  private static void execute(String... statements) throws SQLException {
    Database.of(server).execute(statements);
  }

  private static String health(String kind) {
    return ServiceProcess.send(service.atManagement("/health/" + kind)).body();
  }

  private static HttpResponse<String> create() {
    return service.create(fern());
  }

  private static String fern() {
    return ServiceProcess.json(NEXT_ID.incrementAndGet(), "fern");
  }
}
