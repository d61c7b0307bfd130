package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
  private static final Duration RECOVERY = Duration.ofSeconds(5);
  private static final String AWAY = "The database is unavailable: ";
  private static final String BACK = "The database is available again";
  private static final String THREADS = "jvm_threads_live_threads";
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
  @Timeout(900)
  void creates_fail_within_the_deadline_and_succeed_soon_after_the_fault(Fault fault)
      throws Throwable {
    TimeLimits.check(() -> refuseAndRecover(fault));
    assertFalse(service.output().contains("\tat "), "the log contains a stack trace");
  }

  private void refuseAndRecover(Fault fault) throws Throwable {
    Await.until(() -> assertEquals(200, create().statusCode()));
    // The store may have lost its only connection in the previous test.
    Await.until(() -> assertEquals(service.lines(AWAY).size(), service.lines(BACK).size()));
    final long began = System.nanoTime();
    final int linesBefore = service.lines(REFUSALS).size();
    final int outages = service.lines(AWAY).size();

    fault.begin.execute();
    try {
      TimeLimits.within(
          Duration.ofSeconds(4),
          "readiness",
          () -> {
            assertAllAreRefusedInTime();
            service.awaitReadiness(503);
          });
      assertAllAreRefusedInTime();
      assertEquals("{\"status\":\"DOWN\"}", health("readiness"));
      assertEquals("{\"status\":\"UP\"}", health("liveness"));
      assertEquals(0, metric(service, "plant_store_database_up"));
      Await.until(() -> assertTrue(service.lines(REFUSALS).size() > linesBefore, REFUSALS));
      int lines = service.lines(REFUSALS).size() - linesBefore;
      long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
      assertTrue(lines <= seconds + 2, lines + " lines in " + seconds + " s");
    } finally {
      proxy.heal();
      execute("ALTER ROLE gardener LOGIN CONNECTION LIMIT -1");
    }

    TimeLimits.within(
        fault == Fault.REFUSED_ROLE ? RECOVERY.plusSeconds(5) : RECOVERY,
        "recovery",
        () -> Await.until(() -> assertEquals(200, create().statusCode())));
    service.awaitReady();
    Await.until(() -> assertTrue(service.lines(BACK).size() > outages, BACK));
    // If the machine stalls, the service may report another outage.
    for (String line : List.of(AWAY, BACK)) {
      TimeLimits.expect(service.lines(line).size() == outages + 1, "outages: " + service.output());
    }
  }

  private static void assertAllAreRefusedInTime() throws Throwable {
    TimeLimits.within(DEADLINE, "refusal", DatabaseFaultsTest::assertAllAreRefused);
  }

  private static void assertAllAreRefused() {
    for (HttpResponse<String> response : responses(beginCreates(service, 40))) {
      assertTrue(response.body().startsWith("{\"error\":5002,"), response.body());
      assertEquals(503, response.statusCode());
      assertTrue(response.headers().firstValue("Retry-After").orElse("").matches("[1-3]"));
    }
  }

  @Test
  @Timeout(900)
  void creates_that_wait_for_a_lock_fail_within_the_deadline() throws Throwable {
    try (Connection locker = Database.of(server).lock("plant")) {
      TimeLimits.check(DatabaseFaultsTest::assertAllAreRefusedInTime);
      locker.rollback();
    }
  }

  /** A table is locked until all creates beyond the limit have been refused. */
  @Test
  void creates_beyond_the_limit_are_refused_early_and_waiting_creates_hold_no_thread()
      throws SQLException {
    Database database = Database.create();
    Map<String, String> environment =
        database.environment(
            "MAX_CONCURRENT_CREATES", String.valueOf(MAX_CREATES), "JAVA_TOOL_OPTIONS", "-Xmx64m");
    try (ServiceProcess limited = new ServiceProcess(environment).awaitReady()) {
      responses(beginCreates(limited, 2 * MAX_CREATES)); // starts the threads
      double idle = metric(limited, THREADS);
      List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
      try (Connection locker = database.lock("plant")) {
        calls.addAll(beginCreates(limited, 10 * MAX_CREATES));
        Await.until(() ->
            assertEquals(
                9 * MAX_CREATES, calls.stream().filter(CompletableFuture::isDone).count()));
        // The service stays ready, because another instance could not serve these callers either.
        limited.awaitReady();
        assertEquals(1, metric(limited, "plant_store_database_up"));
        double threads = metric(limited, THREADS);
        assertTrue(threads - idle <= 20, threads + " threads instead of " + idle);
        locker.rollback();
      }
      List<HttpResponse<String>> responses = responses(calls);
      assertEquals(9 * MAX_CREATES, count(responses, "{\"error\":5003,"));
      assertEquals(MAX_CREATES, count(responses, "{\"name\":"));
    }
  }

  private static double metric(ServiceProcess of, String series) {
    String metrics = of.metrics();
    return Double.parseDouble(
        metrics.substring(metrics.indexOf("\n" + series + " ") + 1).split("[ \n]", 3)[1]);
  }

  private static long count(List<HttpResponse<String>> responses, String start) {
    return responses.stream().filter(response -> response.body().startsWith(start)).count();
  }

  private static List<CompletableFuture<HttpResponse<String>>> beginCreates(
      ServiceProcess at, int number) {
    return Stream.generate(() -> at.beginCreate(fern())).limit(number).toList();
  }

  private static List<HttpResponse<String>> responses(
      List<CompletableFuture<HttpResponse<String>>> calls) {
    return calls.stream().map(CompletableFuture::join).toList();
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
