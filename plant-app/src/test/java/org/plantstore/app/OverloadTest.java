package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Many more callers than the service and its database can serve. */
@Tag("slow")
@Isolated
class OverloadTest {

  private static final int PLACES = 100;
  private static final int CALLERS = 1_000;
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** Additional time for a busy machine, as on the page on operations. */
  private static final Duration MARGIN = Duration.ofMillis(1_500);

  private static final String TAKEN_PLANTS = "plant_store_queue_wait_seconds_count";

  private static final AtomicLong NEXT_ID = new AtomicLong();

  private static Database database;
  @AutoClose private static ServiceProcess service;

  @BeforeAll
  static void start() throws SQLException {
    database = Database.create();
    Map<String, String> settings =
        Map.of(
            "DATABASE_TIMEOUT_SECONDS", String.valueOf(DEADLINE.toSeconds()),
            "MAX_CONCURRENT_CREATES", String.valueOf(PLACES),
            "JAVA_TOOL_OPTIONS", "-Xmx64m");
    service = new ServiceProcess(database.environment(settings)).awaitReady();
    // Loads the classes before the measurement; these answers count as refused.
    assertEquals(200, service.create(0, "fern").statusCode());
    createAtOnce("{\"id\":0,\"name\":\"moss\"}");
  }

  @Test
  void callers_beyond_the_places_are_turned_away_and_those_within_answered_at_the_deadline()
      throws SQLException {
    try (Connection locker = database.lock("plant")) {
      for (int round = 0; round < 3; round++) {
        List<HttpResponse<String>> answers = createAtOnce("{\"id\":%d,\"name\":\"fern\"}");

        long waited = count(answers, "{\"error\":5002,");
        // Some may have come when the first had gone.
        assertTrue(waited >= PLACES && waited <= 4 * PLACES, "waited: " + waited);
        assertEquals(CALLERS, waited + count(answers, "{\"error\":5003,"));
        assertSlowest("error=\"5002\",outcome=\"failed\"", DEADLINE.plus(MARGIN));
        // They do not wait as the others do.
        assertSlowest("error=\"5003\",outcome=\"failed\"", DEADLINE);
        // Another instance could not serve either.
        assertEquals(200, service.readiness());
        assertEquals(1, metric("plant_store_database_up"));
      }
      locker.rollback();
    }
    assertNormalService();
  }

  @Test
  void creates_that_wait_for_the_database_hold_no_thread() throws SQLException {
    double idle = metric("jvm_threads_live_threads");
    double before = metric(TAKEN_PLANTS);
    database.execute(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS"
            + " 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'",
        "CREATE TRIGGER wait AFTER INSERT ON plant EXECUTE FUNCTION wait()");
    List<CompletableFuture<HttpResponse<String>>> calls =
        beginCreates(PLACES, "{\"id\":%d,\"name\":\"fern\"}");
    Await.until(
        () -> "waiting creates: " + metric(TAKEN_PLANTS),
        () -> metric(TAKEN_PLANTS) - before >= PLACES);

    double threads = metric("jvm_threads_live_threads");

    assertTrue(threads - idle <= 20, threads + " threads instead of " + idle);
    calls.forEach(call -> assertEquals(200, call.join().statusCode()));
    database.execute("DROP FUNCTION wait CASCADE");
  }

  private static void assertNormalService() {
    for (int create = 0; create < 10; create++) {
      HttpResponse<String> answer =
          assertTimeout(DEADLINE, () -> service.create(NEXT_ID.incrementAndGet(), "fern"));
      assertEquals(200, answer.statusCode());
    }
    assertEquals(200, service.readiness());
  }

  /** By the service's own measure: these clients wait for a processor as well. */
  private static void assertSlowest(String labels, Duration limit) {
    String series = "plant_store_requests_seconds_max{" + labels + "}";
    double seconds = metric(series);
    assertTrue(seconds > 0 && seconds * 1_000 < limit.toMillis(), series + seconds);
  }

  private static double metric(String series) {
    String metrics = service.metrics();
    return Double.parseDouble(
        metrics.substring(metrics.indexOf("\n" + series + " ") + 1).split("[ \n]", 3)[1]);
  }

  private static long count(List<HttpResponse<String>> answers, String start) {
    return answers.stream().filter(answer -> answer.body().startsWith(start)).count();
  }

  /** Sends creates with the next ids in place of the format's number, if it has one. */
  private static List<HttpResponse<String>> createAtOnce(String format) {
    return beginCreates(CALLERS, format).stream().map(CompletableFuture::join).toList();
  }

  private static List<CompletableFuture<HttpResponse<String>>> beginCreates(
      int number, String format) {
    return Stream.generate(() -> String.format(Locale.ROOT, format, NEXT_ID.incrementAndGet()))
        .limit(number)
        .map(service::beginCreate)
        .toList();
  }
}
