package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.connection.RawRequests.createRequest;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.http.FakeCreatePlant;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.connection.RawRequests;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * What is logged and measured of requests where there is a registry; all other tests show that none
 * is needed.
 */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@Property(name = "spec.name", value = "ExchangesTest")
@Timeout(60)
class ExchangesTest {

  private static final String LAST = createRequest("Connection: close\r\n");

  @Inject EmbeddedServer server;
  @Inject FakeCreatePlant createPlant;
  @Inject MeterRegistry registry;

  @Singleton
  @Requires(property = "spec.name", value = "ExchangesTest")
  static final class Registry extends SimpleMeterRegistry {}

  @Test
  void every_request_has_one_line_with_its_ids_and_is_counted_once() throws Exception {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Map<String, Long> counted = counts();
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(
          server,
          createRequest("X-Request-Id: a\r\ntraceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n")
              + createRequest("")
              + "GET /errors HTTP/1.1\r\nHost: x\r\n\r\n"
              + "GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n"
              + "POST /plants HTTP/1.1\r\n\r\n");
      RawRequests.send(server, "canary canary\r\n\r\n");
      createPlant.fail(new PlantStoreUnavailableException("away"));
      RawRequests.send(server, LAST);
      createPlant.behave(plant -> {
        begun.countDown();
        FakeCreatePlant.await(goOn);
        return plant.plant();
      });
      RawRequests.abandon(server, createRequest("X-Request-Id: gone\r\n"), begun);
      List<ILoggingEvent> lines = log.await(8);
      goOn.countDown();

      assertEquals(
          List.of(
              "POST /plants 200 - created 15",
              "POST /plants 200 - created 15",
              "GET /errors 200 - served many",
              "GET /elsewhere 401 4001 refused 94",
              "POST /plants 400 4005 refused 156",
              "- - 400 4005 refused 156",
              "POST /plants 503 5002 failed 100",
              "POST /plants - - unanswered 0"),
          lines.stream().map(ExchangesTest::textOf).toList());
      assertEquals(Map.of("request_id", "a", "trace_id", trace), lines.get(0).getMDCPropertyMap());
      assertEquals(Map.of("request_id", "gone"), lines.get(7).getMDCPropertyMap());
    }
    counts().forEach((series, count) -> counted.merge(series, count, (old, now) -> now - old));
    counted.values().removeIf(count -> count == 0);
    assertEquals(
        Map.of(
            "created none", 2L,
            "served none", 1L,
            "refused 4001", 1L,
            "refused 4005", 2L,
            "failed 5002", 1L,
            "unanswered none", 1L),
        counted);
  }

  @Test
  void what_comes_behind_the_last_request_has_no_line() throws IOException {
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(server, LAST + createRequest("X-Request-Id: behind\r\n"));
      RawRequests.send(server, createRequest("Connection: close\r\nX-Request-Id: next\r\n"));

      assertEquals("next", log.await(2).get(1).getMDCPropertyMap().get("request_id"));
    }
  }

  @Test
  void answer_is_timed_from_the_head_of_its_request() throws IOException {
    createPlant.behave(plant -> {
      LockSupport.parkNanos(Duration.ofMillis(30).toNanos());
      throw new ArithmeticException("bug");
    });
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(server, LAST);
      String millis = Log.value(log.await(1).get(0), "duration_ms");
      assertTrue(millis.matches("\\d+\\.\\d{3}") && Double.parseDouble(millis) >= 25, millis);
    }
    Timer failed = registry.get("plant.store.requests").tag("error", "5001").timer();
    assertTrue(failed.totalTime(TimeUnit.MILLISECONDS) >= 25, failed.takeSnapshot()::toString);
    assertEquals(10, failed.takeSnapshot().histogramCounts().length);
  }

  @Test
  void every_error_has_its_series_from_the_start() {
    assertEquals(ErrorNumber.values().length + Exchange.Outcome.values().length, counts().size());
  }

  @Test
  void remembered_tokens_are_counted() throws IOException {
    RawRequests.send(server, createRequest("").repeat(4) + LAST);

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
      counts.put(
          timer.getId().getTag("outcome") + " " + timer.getId().getTag("error"), timer.count());
    }
    return counts;
  }

  private static String textOf(ILoggingEvent line) {
    String text =
        Stream.of("method", "path", "status", "error", "outcome", "bytes")
            .map(key -> Log.value(line, key))
            .collect(Collectors.joining(" "));
    return text.replaceFirst(" \\d{4,}$", " many");
  }
}
