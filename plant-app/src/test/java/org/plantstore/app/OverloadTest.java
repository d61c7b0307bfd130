package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many more callers than the service and its database can serve. */
@Tag("slow")
class OverloadTest {

  private static final int PLACES = 100;
  private static final int CALLERS = 1_000;
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** What a machine with other things to do may take longer. */
  private static final Duration MARGIN = Duration.ofSeconds(3);

  private static final String STORE_UNAVAILABLE = "{\"error\":5002,";
  private static final String OVERLOADED = "{\"error\":5003,";

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final AtomicLong nextId = new AtomicLong();
  private final String authorization = "Bearer " + ServiceProcess.token();

  private EmbeddedPostgres database;
  private DatabaseProxy proxy;
  private ServiceProcess service;

  /**
   * An answer and the time until it came.
   *
   * @param response the answer
   * @param elapsed since the request was sent
   */
  private record Timed(HttpResponse<String> response, Duration elapsed) {}

  @BeforeEach
  void start() throws IOException {
    database = EmbeddedDatabase.start();
    proxy = new DatabaseProxy(database.getPort());
    Map<String, String> environment =
        EmbeddedDatabase.environment("jdbc:postgresql://127.0.0.1:" + proxy.port() + "/postgres");
    environment.put("DATABASE_TIMEOUT_SECONDS", String.valueOf(DEADLINE.toSeconds()));
    environment.put("MAX_CONCURRENT_CREATES", String.valueOf(PLACES));
    environment.put("JAVA_TOOL_OPTIONS", "-Xmx64m");
    service = new ServiceProcess(environment).awaitReady();
  }

  @AfterEach
  void stop() throws IOException {
    service.close();
    proxy.close();
    database.close();
  }

  @Test
  void callers_beyond_the_places_are_turned_away_and_those_within_answered_at_the_deadline()
      throws SQLException {
    try (Connection locker = database.getPostgresDatabase().getConnection()) {
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE plant");
      for (int round = 0; round < 3; round++) {
        List<Timed> answers = createAtOnce(CALLERS);

        answers.forEach(OverloadTest::assertRefusedInTime);
        long waited = count(answers, STORE_UNAVAILABLE);
        // Some may have come when the first had gone.
        assertTrue(waited >= PLACES && waited <= 4 * PLACES, "waited: " + waited);
        assertEquals(CALLERS, waited + count(answers, OVERLOADED));
        assertEquals(200, service.health("readiness").statusCode());
      }
    }
    assertNormalService();
  }

  @Test
  void slow_database_serves_as_many_as_it_can_and_the_memory_does_not_grow() {
    proxy.setDelay(Duration.ofMillis(100));
    for (int round = 0; round < 10; round++) {
      List<Timed> answers = createAtOnce(CALLERS);

      List<Timed> served =
          answers.stream().filter(answer -> answer.response().statusCode() == 200).toList();
      assertTrue(served.size() >= PLACES, "served: " + served.size());
      for (Timed answer : served) {
        assertTrue(answer.elapsed().compareTo(DEADLINE.plus(MARGIN)) < 0, answer::toString);
      }
      assertEquals(CALLERS, served.size() + count(answers, "{\"error\":500"));
    }
    proxy.setDelay(Duration.ZERO);
    // With 64 MB of heap, all of which would be taken if anything stayed.
    assertFalse(service.output().contains("OutOfMemoryError"), service::output);
    assertNormalService();
  }

  private void assertNormalService() {
    for (int create = 0; create < 10; create++) {
      Timed answer = create().join();
      assertEquals(200, answer.response().statusCode());
      assertTrue(answer.elapsed().compareTo(DEADLINE) < 0, answer::toString);
    }
    assertEquals(200, service.health("readiness").statusCode());
  }

  private static void assertRefusedInTime(Timed answer) {
    assertEquals(503, answer.response().statusCode());
    assertEquals(Optional.of("1"), answer.response().headers().firstValue("Retry-After"));
    assertTrue(answer.elapsed().compareTo(DEADLINE.plus(MARGIN)) < 0, answer::toString);
  }

  private static long count(List<Timed> answers, String start) {
    return answers.stream().filter(answer -> answer.response().body().startsWith(start)).count();
  }

  private List<Timed> createAtOnce(int callers) {
    List<CompletableFuture<Timed>> calls = new ArrayList<>();
    for (int caller = 0; caller < callers; caller++) {
      calls.add(create());
    }
    return calls.stream().map(CompletableFuture::join).toList();
  }

  private CompletableFuture<Timed> create() {
    String plant = "{\"id\":%d,\"name\":\"fern\"}".formatted(nextId.incrementAndGet());
    HttpRequest request =
        HttpRequest.newBuilder(service.address().resolve("/plants"))
            .header("Authorization", authorization)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(plant))
            .build();
    long began = System.nanoTime();
    return client
        .sendAsync(request, BodyHandlers.ofString())
        .orTimeout(60, TimeUnit.SECONDS)
        .thenApply(response -> new Timed(response, Duration.ofNanos(System.nanoTime() - began)));
  }
}
