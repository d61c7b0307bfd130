package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.connection.RawRequests.FERN;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.FakeCreatePlant;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.connection.RawRequests;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * What this adapter measures where there is a registry; all other tests show that it needs none.
 */
@Timeout(60)
class MetricsTest {

  private final MeterRegistry registry = new SimpleMeterRegistry();
  private ApplicationContext context;
  private EmbeddedServer server;
  private FakeCreatePlant createPlant;

  @BeforeEach
  void start() {
    context =
        ApplicationContext.builder()
            .properties(Map.of("jwt.secret", Tokens.SECRET))
            .singletons(registry)
            .start();
    server = context.getBean(EmbeddedServer.class).start();
    createPlant = context.getBean(FakeCreatePlant.class);
  }

  @AfterEach
  void stop() {
    context.close();
  }

  @Test
  void every_request_is_counted_once_by_its_outcome_and_error() throws Exception {
    RawRequests.send(
        server,
        RawRequests.createRequest("")
            + RawRequests.createRequest("")
            + "GET /errors HTTP/1.1\r\nHost: x\r\n\r\n"
            + "GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n"
            + "GET / HTTP/1.1\r\n\r\n");
    createPlant.fail(new PlantStoreUnavailableException("away"));
    RawRequests.send(server, RawRequests.createRequest("Connection: close\r\n"));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch counted = new CountDownLatch(1);
    createPlant.behave(plant -> {
      begun.countDown();
      FakeCreatePlant.await(counted);
      return plant.plant();
    });
    RawRequests.abandon(server, RawRequests.createRequest(""), begun);

    Map<String, Long> expected =
        Map.of(
            "created none", 2L,
            "served none", 1L,
            "refused 4001", 1L,
            "refused 4005", 1L,
            "failed 5002", 1L,
            "unanswered none", 1L);
    while (counts().values().stream().mapToLong(Long::longValue).sum() < 7) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
    counted.countDown();
    assertEquals(expected, counts());
  }

  @Test
  void answer_is_timed_from_the_head_of_its_request() {
    createPlant.behave(plant -> {
      LockSupport.parkNanos(Duration.ofMillis(30).toNanos());
      return plant.plant();
    });
    Answer.toCreate(server.getURI(), FERN);

    Timer created = registry.get("plant.store.requests").tag("outcome", "created").timer();
    while (created.count() == 0) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
    assertTrue(created.totalTime(TimeUnit.MILLISECONDS) >= 25, created.takeSnapshot()::toString);
    assertEquals(10, created.takeSnapshot().histogramCounts().length);
  }

  @Test
  void every_error_has_its_series_from_the_start() {
    assertEquals(
        ErrorNumber.values().length + Exchange.Outcome.values().length,
        registry.find("plant.store.requests").timers().size());
  }

  @Test
  void remembered_tokens_are_counted() {
    String token = Tokens.valid();
    for (int request = 0; request < 5; request++) {
      assertEquals(200, Answer.create(server.getURI(), token).status());
    }

    assertTrue(lookUps("hit") >= 3, "hits");
    assertTrue(lookUps("miss") >= 1, "misses");
    assertTrue(registry.get("cache.size").tags("cache", "tokens").gauge().value() >= 1);
  }

  private double lookUps(String result) {
    return registry
        .get("cache.gets")
        .tags("cache", "tokens", "result", result)
        .functionCounter()
        .count();
  }

  private Map<String, Long> counts() {
    Map<String, Long> counts = new TreeMap<>();
    for (Timer timer : registry.find("plant.store.requests").timers()) {
      if (timer.count() > 0) {
        counts.put(
            timer.getId().getTag("outcome") + " " + timer.getId().getTag("error"), timer.count());
      }
    }
    return counts;
  }
}
