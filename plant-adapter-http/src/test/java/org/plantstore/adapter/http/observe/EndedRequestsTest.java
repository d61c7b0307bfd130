package org.plantstore.adapter.http.observe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.Socket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.MDC;

/** Tests request ids, metrics, and the access log, which must not contain secrets. */
@Property(name = "spec.name", value = "EndedRequestsTest")
class EndedRequestsTest extends ServerTest {

  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

  @Inject MeterRegistry registry;

  /** The registry exists only in this test. */
  @Singleton
  @Requires(property = "spec.name", value = "EndedRequestsTest")
  static final class Registry extends SimpleMeterRegistry {}

  @Test
  void every_request_is_logged_and_timed_once_and_all_series_exist_from_startup()
      throws IOException {
    Map<String, Long> before = counts();
    assertEquals(
        ErrorNumber.values().length + EndedRequests.Outcome.values().length, before.size());
    try (Log log = new Log(EndedRequests.ACCESS_LOG)) {
      String ids = "X-Request-Id: a\r\ntraceparent: 00-" + TRACE_ID + "-00f067aa0ba902b7-01\r\n";
      send(
          createRequest(ids)
              + "GET /errors HTTP/1.1\r\nHost: x\r\n\r\n"
              + "GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n"
              + "POST /plants HTTP/1.1\r\n\r\n");
      send("canary canary\r\n\r\n");
      createPlant.behave(plant -> {
        long start = System.nanoTime();
        while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(25)) {
          LockSupport.parkNanos(1_000_000); // may return early
        }
        throw new PlantStoreUnavailableException("away");
      });
      send(createRequest("Connection: close\r\n") + "GET /after/the/last HTTP/1.1\r\n\r\n");
      List<ILoggingEvent> lines = log.await(6);
      Socket gone = connect(server);
      createPlant.behave(plant -> {
        assertDoesNotThrow(gone::close);
        log.await(7);
        return plant.plant();
      });
      write(gone, createRequest("X-Request-Id: gone\r\n"));
      log.await(7);

      assertEquals(
          List.of(
              "POST /plants 200 - created 15",
              "GET /errors 200 - served many",
              "GET /elsewhere 401 4001 refused 94",
              "POST /plants 400 4005 refused 120",
              "- - 400 4005 refused 151",
              "POST /plants 503 5002 failed 105",
              "POST /plants - - unanswered 0"),
          lines.stream().map(EndedRequestsTest::textOf).toList());
      assertEquals(
          Map.of("request_id", "a", "trace_id", TRACE_ID), lines.get(0).getMDCPropertyMap());
      assertEquals(Map.of("request_id", "gone"), lines.get(6).getMDCPropertyMap());
      String millis = value(lines.get(5), "duration_ms");
      assertTrue(millis.matches("\\d+\\.\\d{3}") && Double.parseDouble(millis) >= 25, millis);
    }
    Map<String, Long> counted = counts();
    before.forEach((series, count) -> counted.merge(series, -count, Long::sum));
    counted.values().removeIf(count -> count == 0);
    assertEquals(
        Map.of(
            "created none", 1L,
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          POST http://alice:canary@x/plants?token=canary#canary | /plants
          CONNECT alice:canary@host:443      | -
          GET /plants%3Ftoken=canary         | -
          GET /alice:canary@host             | -
          GET /alice:canary%40host           | -
          GET //canary/plants                | -
          GET /a"b\\c                         | /a?b?c
          GET /\u00e4\u001b[1m                 | -
          """)
  void logged_path_contains_no_password_and_is_printable(String target, String path)
      throws IOException {
    assertEquals(path, value(lineAbout(target), "path"));
  }

  @Test
  void logged_path_and_method_are_shortened() throws IOException {
    ILoggingEvent line = lineAbout("GET".repeat(6) + " /" + "x".repeat(1_000));
    assertEquals("GETGETGETGETGETG...", value(line, "method"));
    assertEquals("/" + "x".repeat(255) + "...", value(line, "path"));
  }

  @Test
  void logged_caller_contains_no_spaces_or_line_breaks() throws IOException {
    String claims = Tokens.CLAIMS.replace("gardener", "a \\n%ü");
    String token = Tokens.raw("{\"alg\":\"HS256\"}", claims, Tokens.SECRET.getBytes(UTF_8));
    try (Log log = new Log(EndedRequests.ACCESS_LOG)) {
      send(createRequest("Connection: close\r\n").replaceFirst("Bearer \\S+", "Bearer " + token));
      assertEquals("a%20%0A%25%C3%BC", value(log.await(1).get(0), "caller"));
    }
  }

  private ILoggingEvent lineAbout(String methodAndTarget) throws IOException {
    try (Log log = new Log(EndedRequests.ACCESS_LOG)) {
      send(methodAndTarget + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      return log.await(1).get(0);
    }
  }

  /** An id is used if it is well-formed and occurs once. Afterwards, the outer ids are restored. */
  @ParameterizedTest
  @CsvSource({
    "X-Request-Id, Order-4711.b_C, true",
    "X-Request-Id, 0123456789012345678901234567890123456789012345678901234567890123, true",
    "X-Request-Id, 01234567890123456789012345678901234567890123456789012345678901234, false",
    "X-Request-Id, '', false",
    "X-Request-Id, a;b, false",
    "X-Request-Id, a&a, false",
    "traceparent, 00-TRACE-b7ad6b7169203331-01, true",
    "traceparent, cc-TRACE-b7ad6b7169203331-01-later, true",
    "traceparent, ff-TRACE-b7ad6b7169203331-01, false",
    "traceparent, 00-00000000000000000000000000000000-b7ad6b7169203331-01, false",
    "traceparent, 00-TRACE-0000000000000000-01, false",
    "traceparent, 00-TRACE-b7ad6b7169203331-01-more, false",
    "traceparent, 00-TRACE-b7ad6b7169203331-01&00-TRACE-b7ad6b7169203331-01, false"
  })
  void log_lines_carry_the_ids_of_the_request(String header, String values, boolean isUsed) {
    List<String> sent = List.of(values.replace("TRACE", TRACE_ID).split("&"));
    Map<String, String> ids = new HashMap<>();
    HttpHeaders outer = new DefaultHttpHeaders().set("X-Request-Id", "outer");
    recordOf(outer)
        .runWithIds(() -> {
          recordOf(new DefaultHttpHeaders().set(header, sent))
              .runWithIds(() -> ids.putAll(MDC.getCopyOfContextMap()));
          assertEquals(Map.of("request_id", "outer"), MDC.getCopyOfContextMap());
        });
    boolean isTrace = header.equals("traceparent");
    String requestId = String.valueOf(ids.get("request_id"));
    boolean isKept = isUsed && !isTrace;
    assertTrue(requestId.matches(isKept ? Pattern.quote(values) : "[0-9a-f]{32}"), requestId);
    assertEquals(isTrace && isUsed ? TRACE_ID : null, ids.get("trace_id"));
  }

  private static RequestRecord recordOf(HttpHeaders headers) {
    RequestRecord record = new RequestRecord(HttpVersion.HTTP_1_1, HttpMethod.GET, "/", headers);
    record.recordHeaders();
    return record;
  }

  private Map<String, Long> counts() {
    return registry.find("plant.store.requests").timers().stream()
        .collect(
            Collectors.toMap(
                timer -> timer.getId().getTag("outcome") + " " + timer.getId().getTag("error"),
                Timer::count));
  }

  private static String value(ILoggingEvent line, String key) {
    return line.getKeyValuePairs().stream()
        .filter(pair -> pair.key.equals(key))
        .map(pair -> String.valueOf(pair.value))
        .collect(Collectors.joining());
  }

  private static String textOf(ILoggingEvent line) {
    String text =
        Stream.of("method", "path", "status", "error", "outcome", "bytes")
            .map(key -> value(line, key))
            .collect(Collectors.joining(" "));
    return text.replaceFirst(" \\d{4,}$", " many");
  }
}
