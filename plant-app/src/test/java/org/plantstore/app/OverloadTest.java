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
import java.util.function.Supplier;
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

  /** What a machine with other things to do may take longer, as the page on operations says. */
  private static final Duration MARGIN = Duration.ofMillis(1_500);

  private static final String STORE_UNAVAILABLE = "{\"error\":5002,";
  private static final String OVERLOADED = "{\"error\":5003,";

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final AtomicLong nextId = new AtomicLong();
  private final String token = ServiceProcess.token();

  private EmbeddedPostgres database;
  private DatabaseProxy proxy;
  private ServiceProcess service;

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
    warmUp();
  }

  /** A service that is measured has loaded its classes; what is answered here counts as refused. */
  private void warmUp() {
    assertEquals(200, service.create("{\"id\":0,\"name\":\"fern\"}").statusCode());
    createAtOnce(CALLERS, () -> "{\"id\":0,\"name\":\"moss\"}");
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
        List<HttpResponse<String>> answers = createAtOnce(CALLERS, this::nextPlant);

        answers.forEach(OverloadTest::assertRefused);
        long waited = count(answers, STORE_UNAVAILABLE);
        // Some may have come when the first had gone.
        assertTrue(waited >= PLACES && waited <= 4 * PLACES, "waited: " + waited);
        assertEquals(CALLERS, waited + count(answers, OVERLOADED));
        assertSlowest("error=\"5002\",outcome=\"failed\"", DEADLINE.plus(MARGIN));
        // They do not wait as the others do.
        assertSlowest("error=\"5003\",outcome=\"failed\"", DEADLINE);
        assertEquals(200, service.health("readiness").statusCode());
      }
    }
    assertNormalService();
  }

  @Test
  void slow_database_serves_as_many_as_it_can_and_the_memory_does_not_grow() {
    proxy.setDelay(Duration.ofMillis(100));
    for (int round = 0; round < 10; round++) {
      List<HttpResponse<String>> answers = createAtOnce(CALLERS, this::nextPlant);

      long served = answers.stream().filter(answer -> answer.statusCode() == 200).count();
      assertTrue(served >= PLACES, "served: " + served);
      assertEquals(CALLERS, served + count(answers, "{\"error\":500"));
      assertSlowest("error=\"none\",outcome=\"created\"", DEADLINE.plus(MARGIN));
    }
    proxy.setDelay(Duration.ZERO);
    // With 64 MB of heap, all of which would be taken if anything stayed.
    assertFalse(service.output().contains("OutOfMemoryError"), service::output);
    assertNormalService();
  }

  private void assertNormalService() {
    for (int create = 0; create < 10; create++) {
      long began = System.nanoTime();
      assertEquals(200, create(nextPlant()).join().statusCode());
      Duration elapsed = Duration.ofNanos(System.nanoTime() - began);
      assertTrue(elapsed.compareTo(DEADLINE) < 0, "took " + elapsed);
    }
    assertEquals(200, service.health("readiness").statusCode());
  }

  private static void assertRefused(HttpResponse<String> answer) {
    assertEquals(503, answer.statusCode());
    assertEquals(Optional.of("1"), answer.headers().firstValue("Retry-After"));
  }

  /** By the service's own measure: these clients wait for a processor as well. */
  private void assertSlowest(String labels, Duration limit) {
    String series = "plant_store_requests_seconds_max{" + labels + "} ";
    double seconds =
        service
            .metrics()
            .body()
            .lines()
            .filter(line -> line.startsWith(series))
            .mapToDouble(line -> Double.parseDouble(line.substring(series.length())))
            .max()
            .orElseThrow();
    assertTrue(seconds > 0 && seconds * 1_000 < limit.toMillis(), series + seconds);
  }

  private static long count(List<HttpResponse<String>> answers, String start) {
    return answers.stream().filter(answer -> answer.body().startsWith(start)).count();
  }

  private List<HttpResponse<String>> createAtOnce(int callers, Supplier<String> plants) {
    List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
    for (int caller = 0; caller < callers; caller++) {
      calls.add(create(plants.get()));
    }
    return calls.stream().map(CompletableFuture::join).toList();
  }

  private String nextPlant() {
    return "{\"id\":%d,\"name\":\"fern\"}".formatted(nextId.incrementAndGet());
  }

  private CompletableFuture<HttpResponse<String>> create(String plant) {
    HttpRequest request =
        ServiceProcess.createRequest(service.address(), token)
            .POST(BodyPublishers.ofString(plant))
            .build();
    return client.sendAsync(request, BodyHandlers.ofString()).orTimeout(60, TimeUnit.SECONDS);
  }
}
