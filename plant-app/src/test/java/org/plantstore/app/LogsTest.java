package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.app.EmbeddedDatabase.environment;
import static org.plantstore.app.EmbeddedDatabase.start;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What can be found of a request in what the service writes. */
class LogsTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String FERN = "{\"id\":1,\"name\":\"canary-name\",\"tag\":\"canary-tag\"}";
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String ACCESS = "org.plantstore.access";

  private static final Map<String, String> HEADERS =
      Map.of(
          "Authorization",
          "Bearer " + ServiceProcess.token(),
          "Content-Type",
          "application/json",
          "X-Request-Id",
          "order-4711",
          "traceparent",
          "00-" + TRACE + "-00f067aa0ba902b7-01");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "text | (?s).*WARN .*RefusedCreates \\[(?=.*request_id=order-4711)(?=.*trace_id=TRACE).*] - A"
            + " plant was not created.*",
        "json | .*\"level\":\"WARN\",.*\"mdc\": \\{(?=.*\"request_id\":\"order-4711\")"
            + "(?=.*\"trace_id\":\"TRACE\").*\"formattedMessage\":\"A plant was not created.*"
      })
  void line_about_a_request_has_its_ids(String format, String pattern) throws IOException {
    EmbeddedPostgres database = start();
    Map<String, String> environment = environment(database);
    environment.put("LOG_FORMAT", format);
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      database.close();

      HttpResponse<String> answer = service.create(FERN, HEADERS);

      assertEquals(503, answer.statusCode());
      assertEquals(Optional.of("order-4711"), answer.headers().firstValue("X-Request-Id"));
      String line = awaitLine(service, "A plant was not created");
      assertTrue(line.matches(pattern.replace("TRACE", TRACE)), line);
      assertFalse(
          service.output().contains(ACCESS), "the access log is off unless it is asked for");
    } finally {
      database.close();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "text | [-0-9T:.]+Z INFO  \\[[^]]+] org\\.plantstore\\.access"
            + " \\[(?=.*request_id=order-4711)(?=.*trace_id=TRACE)[^]]+] - request method=POST"
            + " path=/plants status=200 error=- outcome=created duration_ms=\\d+\\.\\d{3} bytes=41",
        "json | \\{.*\"loggerName\":\"org\\.plantstore\\.access\","
            + "\"mdc\": \\{(?=.*\"request_id\":\"order-4711\")(?=.*\"trace_id\":\"TRACE\")[^}]+},"
            + "\"kvpList\": \\[\\{\"method\":\"POST\"},\\{\"path\":\"\\\\/plants\"},"
            + "\\{\"status\":\"200\"},\\{\"error\":\"-\"},\\{\"outcome\":\"created\"},"
            + "\\{\"duration_ms\":\"\\d+\\.\\d{3}\"},\\{\"bytes\":\"41\"}],.*}"
      })
  void access_log_has_a_line_for_each_request_of_the_api(String format, String pattern)
      throws IOException {
    try (EmbeddedPostgres database = start();
        ServiceProcess service =
            new ServiceProcess(with(environment(database), format)).awaitReady()) {
      service.document();
      service.create(FERN, HEADERS);
      service.get("/elsewhere?canary=query", Map.of("Authorization", "Bearer canary"));

      String line = awaitLine(service, "order-4711");
      assertTrue(line.matches(pattern.replace("TRACE", TRACE)), line);
      awaitLine(service, "/elsewhere");
      List<String> lines = service.output().lines().filter(each -> each.contains(ACCESS)).toList();
      assertEquals(3, lines.size(), "no line about a probe: " + lines);
      for (String secret : List.of("canary", "eyJ")) {
        assertFalse(service.output().contains(secret), service.output());
      }
    }
  }

  @Test
  void lines_without_a_request_look_as_ever() throws IOException {
    try (EmbeddedPostgres database = start();
        ServiceProcess service = new ServiceProcess(environment(database)).awaitReady()) {
      String line = awaitLine(service, "Startup completed");
      assertTrue(
          line.matches("[-0-9T:.]+Z INFO  \\[main] io\\.micronaut\\.runtime\\.Micronaut - .*\\d+"),
          line);
    }
  }

  private static Map<String, String> with(Map<String, String> environment, String format) {
    Map<String, String> all = new HashMap<>(environment);
    all.put("ACCESS_LOG", "on");
    all.put("LOG_FORMAT", format);
    return all;
  }

  /** Answers the first line that has a text; lines may come after their answers. */
  private static String awaitLine(ServiceProcess service, String text) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      Optional<String> line =
          service.output().lines().filter(each -> each.contains(text)).findFirst();
      if (line.isPresent()) {
        return line.get();
      }
      assertTrue(System.nanoTime() < deadline, () -> text + " is not in " + service.output());
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }
}
