package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a caller sees of each fault that a database and the network to it can have: 503 within the
 * deadline, and a plant soon after the fault is over. The service is never started again.
 */
@Tag("slow")
class DatabaseFaultsTest {

  private static final int CALLERS = 40;
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** What a machine with other things to do may take longer. */
  private static final Duration MARGIN = Duration.ofMillis(1_500);

  private static final String AWAY = "The database is away: ";
  private static final String BACK = "The database is back, ";
  private static final Duration RECOVERY = Duration.ofSeconds(2);
  private static final Duration READINESS = Duration.ofSeconds(4);
  private static final Duration PAUSE_AFTER_REFUSAL = Duration.ofSeconds(5);
  private static final String RESTART_SESSIONS =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gardener'";

  private static final AtomicLong NEXT_ID = new AtomicLong();

  @TempDir static Path data;

  private static EmbeddedPostgres database;
  private static DatabaseProxy proxy;
  private static ServiceProcess service;
  private static @Nullable Connection locker;

  private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS + 1);

  @BeforeAll
  static void start() throws IOException, SQLException {
    database = EmbeddedDatabase.start(data, 0);
    execute("CREATE ROLE gardener LOGIN", "GRANT CREATE ON SCHEMA public TO gardener");
    proxy = new DatabaseProxy(database.getPort());
    // With TLS the driver itself gives up a server that does not even answer that it has none.
    Map<String, String> environment =
        EmbeddedDatabase.environment(
            "jdbc:postgresql://127.0.0.1:" + proxy.port() + "/postgres?sslmode=disable");
    environment.put("DATABASE_USERNAME", "gardener");
    environment.put("DATABASE_TIMEOUT_SECONDS", String.valueOf(DEADLINE.toSeconds()));
    service = new ServiceProcess(environment).awaitReady();
  }

  @AfterAll
  static void stop() throws IOException {
    service.close();
    proxy.close();
    database.close();
  }

  @AfterEach
  void dismissCallers() {
    callers.shutdownNow();
  }

  /** What happens to the database; each knows how it begins and how it ends. */
  enum Fault {
    /** For so long that one who doubles the pause after each failure would pause for seconds. */
    DOWN(3) {
      @Override
      void begin() {
        proxy.refuse();
      }
    },
    SILENT {
      @Override
      void begin() {
        proxy.fallSilent();
      }
    },
    UNREACHABLE {
      @Override
      void begin() throws IOException {
        proxy.fallSilent();
        proxy.acceptNothing();
      }
    },
    /** For longer than there are attempts to connect at once, all of which are lost. */
    SWALLOWED(5) {
      @Override
      void begin() {
        proxy.fallSilent();
      }

      @Override
      void end() throws IOException {
        proxy.abandonConnections();
        proxy.heal(database.getPort());
      }
    },
    CUT_OFF {
      @Override
      void begin() throws IOException {
        // As a host that vanishes: what was sent to it is not answered later either.
        proxy.acceptNothing();
        proxy.abandonConnections();
      }
    },
    SLOW {
      @Override
      void begin() {
        proxy.setDelay(DEADLINE.multipliedBy(2));
      }
    },
    LOCKED {
      @Override
      void begin() throws SQLException {
        Connection connection = database.getPostgresDatabase().getConnection();
        connection.setAutoCommit(false);
        connection.createStatement().execute("LOCK TABLE plant");
        locker = connection;
      }

      @Override
      void end() throws SQLException {
        Objects.requireNonNull(locker).close();
      }
    },
    READ_ONLY {
      @Override
      void begin() throws SQLException {
        execute("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()");
        // The server does not say when all its sessions know it.
        int status = 200;
        while (status == 200) {
          status = create().statusCode();
        }
      }

      @Override
      void end() throws SQLException {
        execute(
            "SET default_transaction_read_only = off",
            "ALTER SYSTEM RESET default_transaction_read_only",
            "SELECT pg_reload_conf()");
      }
    },
    OUT_OF_CONNECTIONS {
      @Override
      void begin() throws SQLException {
        execute("ALTER ROLE gardener CONNECTION LIMIT 0", RESTART_SESSIONS);
      }

      @Override
      void end() throws SQLException {
        execute("ALTER ROLE gardener CONNECTION LIMIT -1");
      }
    },
    /** But for the session that watches the database, which goes on. */
    OUT_OF_CONNECTIONS_FOR_PLANTS {
      @Override
      void begin() throws SQLException {
        execute("ALTER ROLE gardener CONNECTION LIMIT 0");
        int status = 200;
        while (status == 200) { // a session may have begun just before
          execute(RESTART_SESSIONS + " AND query NOT LIKE 'SHOW %'");
          status = create().statusCode();
        }
      }

      @Override
      void end() throws SQLException {
        execute("ALTER ROLE gardener CONNECTION LIMIT -1");
      }
    },
    KILLED {
      @Override
      void begin() throws IOException {
        EmbeddedDatabase.kill(database, data);
      }

      @Override
      void end() throws IOException {
        database = EmbeddedDatabase.restart(data, database.getPort());
      }
    };

    private final int times;

    /** The second time nothing is left of what worked before. */
    Fault() {
      this(2);
    }

    /**
     * Makes a fault.
     *
     * @param times how many times callers come while it lasts
     */
    Fault(int times) {
      this.times = times;
    }

    abstract void begin() throws IOException, SQLException;

    void end() throws IOException, SQLException {
      proxy.heal(database.getPort());
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void callers_are_told_in_time_and_served_soon_after(Fault fault) throws Exception {
    assertEquals(200, create().statusCode());

    long began = System.nanoTime();
    long lines = linesAboutRefusals();
    long goings = linesWith(AWAY);
    long returns = linesWith(BACK);
    fault.begin();
    Future<Duration> notReady =
        callers.submit(fault == Fault.LOCKED ? () -> Duration.ZERO : DatabaseFaultsTest::notReady);
    try {
      for (int time = 0; time < fault.times; time++) {
        assertAllAreToldInTime(fault);
      }
      // Where plants are locked, another instance could do no better.
      int status = fault == Fault.LOCKED ? 200 : 503;
      Duration untilNotReady = notReady.get();
      assertTrue(untilNotReady.compareTo(READINESS.plus(MARGIN)) < 0, "ready for " + untilNotReady);
      assertEquals(status, service.health("readiness").statusCode());
      lines = linesAboutRefusals() - lines;
      long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
      assertTrue(lines >= 1 && lines <= seconds + 2, lines + " lines in " + seconds + " s");
    } finally {
      fault.end();
    }

    assertServedSoon();
    service.awaitReadiness(200);
    int times = fault == Fault.LOCKED ? 0 : 1;
    awaitLines(BACK, returns + times);
    assertEquals(goings + times, linesWith(AWAY), AWAY);
    assertFalse(service.output().contains("\tat "), "a stack trace is in the log");
  }

  /** Many a server locks an account out that is tried with a wrong password too often. */
  @Test
  void account_that_is_refused_is_tried_seldom() throws Exception {
    assertEquals(200, create().statusCode());
    execute("ALTER ROLE gardener NOLOGIN", RESTART_SESSIONS);
    try {
      refused();
      int before = proxy.accepted();
      long began = System.nanoTime();
      while (proxy.accepted() < before + 3) {
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }
      Duration elapsed = Duration.ofNanos(System.nanoTime() - began);
      assertTrue(elapsed.compareTo(PAUSE_AFTER_REFUSAL.multipliedBy(2)) >= 0, "took " + elapsed);
    } finally {
      execute("ALTER ROLE gardener LOGIN");
    }
    assertServedWithin(PAUSE_AFTER_REFUSAL.plus(RECOVERY));
  }

  @Test
  void plant_whose_answer_is_lost_on_the_way_from_the_database_is_answered() throws Exception {
    for (int time = 0; time < 5; time++) {
      assertEquals(200, create().statusCode());
      long id = NEXT_ID.get();
      proxy.cutNextAnswer();

      assertEquals(200, create().statusCode());

      assertEquals(
          "1", EmbeddedDatabase.single(database, "SELECT count(*) FROM plant WHERE id = " + id));
    }
  }

  private void assertAllAreToldInTime(Fault fault) throws Exception {
    List<Future<Duration>> calls = new ArrayList<>();
    for (int caller = 0; caller < CALLERS; caller++) {
      calls.add(callers.submit(DatabaseFaultsTest::refused));
    }
    for (Future<Duration> call : calls) {
      Duration elapsed = call.get();
      assertTrue(elapsed.compareTo(DEADLINE.plus(MARGIN)) < 0, fault + " took " + elapsed);
    }
  }

  /** Answers how long it takes to be asked to come again. */
  private static Duration refused() {
    long began = System.nanoTime();
    HttpResponse<String> answer = create();
    Duration elapsed = Duration.ofNanos(System.nanoTime() - began);
    assertEquals(
        "{\"error\":5002,\"message\":\"The plant store cannot be reached now; send the same"
            + " request again later.\"}",
        answer.body());
    assertEquals(503, answer.statusCode());
    assertEquals(Optional.of("1"), answer.headers().firstValue("Retry-After"));
    return elapsed;
  }

  private static Duration notReady() {
    long began = System.nanoTime();
    service.awaitReadiness(503);
    return Duration.ofNanos(System.nanoTime() - began);
  }

  private static void assertServedSoon() {
    assertServedWithin(RECOVERY);
  }

  private static void assertServedWithin(Duration limit) {
    long began = System.nanoTime();
    int status;
    do {
      status = create().statusCode();
    } while (status == 503 && System.nanoTime() - began < limit.toNanos());
    Duration elapsed = Duration.ofNanos(System.nanoTime() - began);
    assertEquals(200, status);
    assertTrue(elapsed.compareTo(limit) < 0, "recovery took " + elapsed);
  }

  private static long linesAboutRefusals() {
    return linesWith("asked to retry");
  }

  private static long linesWith(String text) {
    return service.output().lines().filter(line -> line.contains(text)).count();
  }

  private static void awaitLines(String text, long number) {
    long deadline = System.nanoTime() + READINESS.plus(MARGIN).toNanos();
    while (linesWith(text) < number && System.nanoTime() < deadline) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    assertEquals(number, linesWith(text), text);
  }

  private static HttpResponse<String> create() {
    return service.create("{\"id\":%d,\"name\":\"fern\"}".formatted(NEXT_ID.incrementAndGet()));
  }

  private static void execute(String... statements) throws SQLException {
    EmbeddedDatabase.execute(database, statements);
  }
}
