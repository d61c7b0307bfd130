package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Faults of the database and its network: creates are answered with 503 within the deadline, and
 * with 200 within 5 s after the fault ends, without a restart of the service. {@link OverloadTest}
 * has a table that is locked.
 */
@Tag("slow")
@Isolated
class DatabaseFaultsTest {

  private static final int CALLERS = 40;
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** Additional time for a busy machine. */
  private static final Duration MARGIN = Duration.ofMillis(1_500);

  private static final String AWAY = "The database is unavailable: ";
  private static final String BACK = "The database is back";
  private static final String REFUSALS = "Creates failed with 5002";
  private static final Duration RECOVERY = Duration.ofSeconds(5);
  private static final String END_SESSIONS =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gardener'";

  private static final AtomicLong NEXT_ID = new AtomicLong();

  @TempDir static Path data;

  @AutoClose private static DatabaseServer server;
  private static Database database;
  @AutoClose private static NetworkProxy proxy;
  @AutoClose private static ServiceProcess service;

  @BeforeAll
  static void start() throws IOException, SQLException {
    server = new DatabaseServer(data);
    database = server.database();
    database.execute("CREATE ROLE gardener LOGIN", "GRANT CREATE ON SCHEMA public TO gardener");
    proxy = new NetworkProxy(database.port());
    // By default the driver itself gives up on a server that does not answer its TLS request.
    Map<String, String> environment = database.through(proxy).environment();
    environment.merge("DATABASE_URL", "?sslmode=disable", String::concat);
    environment.put("DATABASE_USERNAME", "gardener");
    environment.put("DATABASE_TIMEOUT_SECONDS", String.valueOf(DEADLINE.toSeconds()));
    service = new ServiceProcess(environment).awaitReady();
  }

  /** How each fault begins, and the number of creates until its end. */
  @SuppressWarnings("ImmutableEnumChecker") // the steps have no state of their own
  enum Fault {
    DOWN(3, () -> proxy.refuse()),
    SILENT(5, () -> proxy.fallSilent()),
    /** Like a host that vanishes: earlier requests are not answered later either. */
    CUT_OFF(
        2,
        () -> {
          proxy.acceptNothing();
          proxy.abandonConnections();
        }),
    OUT_OF_CONNECTIONS(
        2,
        () -> {
          database.execute("ALTER ROLE gardener CONNECTION LIMIT 0");
          endSessionsUntilRefused();
        }),
    /** The account is tried again after a pause. */
    REFUSED_ACCOUNT(1, () -> database.execute("ALTER ROLE gardener NOLOGIN", END_SESSIONS));

    private final int times;
    private final Executable begin;

    Fault(int times, Executable begin) {
      this.times = times;
      this.begin = begin;
    }
  }

  @ParameterizedTest
  @EnumSource
  void callers_are_told_in_time_and_served_soon_after(Fault fault) throws Throwable {
    assertEquals(200, create().statusCode());
    // The store may have lost its only connection in the previous test.
    Await.until(BACK, () -> service.linesWith(BACK) == service.linesWith(AWAY));
    long began = System.nanoTime();
    final long linesBefore = service.linesWith(REFUSALS);
    final long outages = service.linesWith(AWAY);

    fault.begin.execute();
    try {
      CompletableFuture<Void> notReady =
          CompletableFuture.runAsync(
              () -> assertWithin(Duration.ofSeconds(4), () -> service.awaitReadiness(503)));
      for (int time = 0; time < fault.times; time++) {
        assertWithin(DEADLINE, DatabaseFaultsTest::assertAllAreRefused);
      }
      notReady.join();
      assertEquals("{\"status\":\"DOWN\"}", service.health("readiness").body());
      assertEquals("{\"status\":\"UP\"}", service.health("liveness").body());
      assertTrue(service.metrics().contains("plant_store_database_up 0.0"), "it is away");
      long lines = service.linesWith(REFUSALS) - linesBefore;
      long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
      assertTrue(lines >= 1 && lines <= seconds + 2, lines + " lines in " + seconds + " s");
    } finally {
      if (fault == Fault.SILENT) {
        proxy.abandonConnections();
      }
      proxy.heal();
      database.execute("ALTER ROLE gardener LOGIN CONNECTION LIMIT -1");
    }

    assertWithin(
        fault == Fault.REFUSED_ACCOUNT ? RECOVERY.plusSeconds(5) : RECOVERY,
        () -> Await.until("200", () -> create().statusCode() == 200));
    service.awaitReady();
    Await.until(BACK, () -> service.linesWith(BACK) > outages);
    assertEquals(outages + 1, service.linesWith(BACK), service::output);
    assertEquals(outages + 1, service.linesWith(AWAY), service::output);
    assertFalse(service.output().contains("\tat "), "a stack trace is in the log");
  }

  /** Repeatedly, because a session may have begun just before. */
  private static void endSessionsUntilRefused() throws SQLException {
    do {
      database.execute(END_SESSIONS);
    } while (create().statusCode() == 200);
  }

  private static void assertAllAreRefused() {
    Stream.generate(() -> service.beginCreate(fern()))
        .limit(CALLERS)
        .toList()
        .forEach(call -> {
          HttpResponse<String> answer = call.join();
          assertTrue(answer.body().startsWith("{\"error\":5002,"), answer.body());
          assertEquals(503, answer.statusCode());
          assertTrue(answer.headers().firstValue("Retry-After").orElse("").matches("[1-3]"));
        });
  }

  private static void assertWithin(Duration limit, Executable call) {
    assertTimeout(limit.plus(MARGIN), call);
  }

  private static HttpResponse<String> create() {
    return service.create(fern());
  }

  private static String fern() {
    return "{\"id\":" + NEXT_ID.incrementAndGet() + ",\"name\":\"fern\"}";
  }
}
