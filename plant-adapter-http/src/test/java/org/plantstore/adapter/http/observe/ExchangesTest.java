package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.MDC;

/**
 * The ids of requests, the access log, which has no secrets, and the metrics; all other tests have
 * no registry.
 */
@Property(name = "spec.name", value = "ExchangesTest")
class ExchangesTest extends ServerTest {

  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
  private static final String LAST = createRequest("Connection: close\r\n");

  @Inject MeterRegistry registry;

  @Singleton
  @Requires(property = "spec.name", value = "ExchangesTest")
  static final class Registry extends SimpleMeterRegistry {}

  @Test
  void every_request_has_one_line_and_is_counted_and_timed_once_in_series_that_are_there()
      throws Exception {
    Map<String, Long> counted = counts();
    assertEquals(ErrorNumber.values().length + Exchanges.Outcome.values().length, counted.size());
    try (Log log = new Log(AccessLog.NAME)) {
      send(
          createRequest(
                  "X-Request-Id: a\r\ntraceparent: 00-" + TRACE_ID + "-00f067aa0ba902b7-01\r\n")
              + createRequest("")
              + "GET /errors HTTP/1.1\r\nHost: x\r\n\r\n"
              + "GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n"
              + "POST /plants HTTP/1.1\r\n\r\n");
      send("canary canary\r\n\r\n");
      createPlant.behave(plant -> {
        LockSupport.parkNanos(Duration.ofMillis(30).toNanos());
        throw new PlantStoreUnavailableException("away");
      });
      send(LAST + "GET /behind/the/last HTTP/1.1\r\nHost: x\r\n\r\n");
      List<ILoggingEvent> lines = log.await(7);
      try (Socket gone = connect()) {
        gone.setSoLinger(true, 0); // resets the connection
        createPlant.behave(plant -> {
          assertDoesNotThrow(gone::close);
          log.await(8);
          return plant.plant();
        });
        write(gone, createRequest("X-Request-Id: gone\r\n"));
        log.await(8);
      }

      assertEquals(
          List.of(
              "POST /plants 200 - created 15",
              "POST /plants 200 - created 15",
              "GET /errors 200 - served many",
              "GET /elsewhere 401 4001 refused 94",
              "POST /plants 400 4005 refused 156",
              "- - 400 4005 refused 156",
              "POST /plants 503 5002 failed 97",
              "POST /plants - - unanswered 0"),
          lines.stream().map(ExchangesTest::textOf).toList());
      assertEquals(
          Map.of("request_id", "a", "trace_id", TRACE_ID), lines.get(0).getMDCPropertyMap());
      assertEquals(Map.of("request_id", "gone"), lines.get(7).getMDCPropertyMap());
      String millis = Log.value(lines.get(6), "duration_ms");
      assertTrue(millis.matches("\\d+\\.\\d{3}") && Double.parseDouble(millis) >= 25, millis);
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
    Timer failed = registry.get("plant.store.requests").tag("error", "5002").timer();
    assertTrue(failed.totalTime(TimeUnit.MILLISECONDS) >= 25, failed.takeSnapshot()::toString);
    assertEquals(10, failed.takeSnapshot().histogramCounts().length);
  }

  @Test
  void client_that_leaves_within_the_head_is_not_answered() throws IOException {
    try (Log log = new Log(AccessLog.NAME)) {
      try (Socket leaving = connect()) {
        write(leaving, "POST /plants HTTP/1.1\r\nHost: x\r\n");
      }
      assertEquals("POST /plants - - unanswered 0", textOf(log.await(1).get(0)));
    }
  }

  @Test
  void ids_of_the_thread_are_back_after_work_for_another_request() {
    String trace = "00-" + TRACE_ID + "-00f067aa0ba902b7-01";
    HttpHeaders traced = new DefaultHttpHeaders().set("traceparent", trace);
    Map<String, String> ids = Map.of("request_id", "a", "trace_id", TRACE_ID);

    new RequestIds(traced, "a")
        .run(() -> {
          new RequestIds(new DefaultHttpHeaders(), "b")
              .run(() -> assertEquals(Map.of("request_id", "b"), MDC.getCopyOfContextMap()));
          assertEquals(ids, MDC.getCopyOfContextMap());
        });
  }

  @Test
  void remembered_tokens_are_counted() throws IOException {
    send(createRequest("").repeat(4) + LAST);

    Tags hits = Tags.of("cache", "tokens", "result", "hit");
    assertTrue(registry.get("cache.gets").tags(hits).functionCounter().count() >= 3);
    Tags misses = Tags.of("cache", "tokens", "result", "miss");
    assertTrue(registry.get("cache.gets").tags(misses).functionCounter().count() >= 1);
    assertTrue(registry.get("cache.size").tag("cache", "tokens").gauge().value() >= 1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          POST http://alice:canary@x/plants?token=canary#canary | /plants
          CONNECT alice:canary@host:443      | -
          POST //alice:canary@host/plants    | -
          POST https:alice:canary@host/      | -
          GET mailto:canary                  | -
          GET /plants%3Ftoken=canary         | -
          GET /plants%23token=canary         | -
          GET /alice:canary%40host           | -
          GET /a\205%3Ftoken=canary           | -
          GET /alice:canary@host             | -
          GET //canary/plants                | -
          GET /a"b\\c                         | /a?b?c
          GET /\u00e4\u001b[1m                 | -
          """)
  void path_has_no_password_and_is_printable(String target, String path) throws IOException {
    assertEquals(path, Log.value(lineAbout(target), "path"));
  }

  @Test
  void path_and_method_are_bounded() throws IOException {
    ILoggingEvent line = lineAbout("GET".repeat(6) + " /" + "x".repeat(1_000));
    assertEquals("GETGETGETGETGETG...", Log.value(line, "method"));
    assertEquals("/" + "x".repeat(255) + "...", Log.value(line, "path"));
  }

  @Test
  void well_formed_id_is_kept() throws IOException {
    for (String id : List.of("Order-4711.b_C", "0123".repeat(16))) {
      assertEquals(Map.of("request_id", id), idsOf("X-Request-Id: " + id));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "01234567890123456789012345678901234567890123456789012345678901234",
        "a b", "a\r\nX-Request-Id: a",
        "a;b", "\u00e4",
        "a/b", "a\"b"
      })
  void other_id_is_replaced(String id) throws IOException {
    String ids = idsOf("x-request-id: " + id).toString();
    assertTrue(ids.matches("\\{request_id=[0-9a-f]{32}}"), ids);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1", "OPTIONS * HTTP/1.1",
        "HEAD /errors HTTP/1.1", "TRACE /plants HTTP/1.1",
        "GET /openapi.yaml/ HTTP/1.1", "POST /plants HTTP/2.0",
        "POST /% HTTP/1.1", "GET /openapi.json HTTP/1.1\r\nIf-None-Match: *",
        "POST /plants HTTP/1.1\r\nHost: y", "POST /plants HTTP/1.1\r\nContent-Length: 0"
      })
  void answer_to_whatever_can_be_read_has_the_id(String head) throws IOException {
    String answer = send(head + "\r\nHost: x\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n");

    assertEquals(1, statuses(answer).size(), answer);
    assertEquals(List.of("mine"), headers(answer, "x-request-id"), answer);
  }

  @ParameterizedTest
  @CsvSource({
    "00-TRACE-b7ad6b7169203331-01,                              true",
    "cc-TRACE-b7ad6b7169203331-01,                              true",
    "cc-TRACE-b7ad6b7169203331-01-what the future brings,       true",
    "TRACE,                                                     false",
    "ff-TRACE-b7ad6b7169203331-01,                              false",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01,   false",
    "00-TRACE-0000000000000000-01,                              false",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01,   false",
    "00-TRACE-b7ad6b7169203331-01-more,                         false",
    "00-TRACE-b7ad6b7169203331-1,                               false",
    "00-TRACE-b7ad6b7169203331-01&00-TRACE-b7ad6b7169203331-01, false"
  })
  void valid_trace_parent_names_its_trace(String header, boolean isValid) throws IOException {
    String parents = header.replace("TRACE", TRACE_ID).replace("&", "\r\ntraceparent: ");
    assertEquals(isValid ? TRACE_ID : null, idsOf("traceparent: " + parents).get("trace_id"));
  }

  private ILoggingEvent lineAbout(String methodAndTarget) throws IOException {
    try (Log log = new Log(AccessLog.NAME)) {
      send(methodAndTarget + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      return log.await(1).get(0);
    }
  }

  /** Returns the ids in the log of a request with this header, whose answer has the same id. */
  private Map<String, String> idsOf(String header) throws IOException {
    try (Log log = new Log(AccessLog.NAME)) {
      String answer = send(createRequest("Connection: close\r\n" + header + "\r\n"));
      Map<String, String> ids = log.await(1).get(0).getMDCPropertyMap();
      assertEquals(List.of(ids.get("request_id")), headers(answer, "x-request-id"));
      return ids;
    }
  }

  private Map<String, Long> counts() {
    return registry.find("plant.store.requests").timers().stream()
        .collect(
            Collectors.toMap(
                timer -> timer.getId().getTag("outcome") + " " + timer.getId().getTag("error"),
                Timer::count));
  }

  private static String textOf(ILoggingEvent line) {
    String text =
        Stream.of("method", "path", "status", "error", "outcome", "bytes")
            .map(key -> Log.value(line, key))
            .collect(Collectors.joining(" "));
    return text.replaceFirst(" \\d{4,}$", " many");
  }
}
