package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the service writes, and what can be found of a request in it. */
class LogsTest {

  private static final String FERN = "{\"id\":1,\"name\":\"canary-name\",\"tag\":\"canary-tag\"}";
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String ACCESS = "org.plantstore.access";
  private static final String TEXT_LINE =
      "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z [A-Z]+ +\\[.*";

  private static Database database;

  /** One for each format, with the access log. */
  private static Map<String, ServiceProcess> services;

  @BeforeAll
  static void startAll() throws SQLException {
    database = Database.create();
    services = Map.of("text", startWithAccessLog("text"), "json", startWithAccessLog("json"));
    services.values().forEach(ServiceProcess::awaitReady);
  }

  @AfterAll
  static void stopAll() {
    services.values().forEach(ServiceProcess::close);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "text | (?s).*WARN .*ErrorAnswers \\[(?=.*request_id=order-503)(?=.*trace_id=TRACE).*] - A"
            + " plant was not created.*",
        "json | .*\"level\":\"WARN\",.*\"mdc\": \\{(?=.*\"request_id\":\"order-503\")"
            + "(?=.*\"trace_id\":\"TRACE\").*\"formattedMessage\":\"A plant was not created.*"
      })
  void line_about_a_request_has_its_ids(String format, String pattern) throws SQLException {
    ServiceProcess service = serviceWith(format);
    try (Connection locker = database.lockPlants()) {
      HttpResponse<String> answer = service.create(FERN, headers("order-503"));

      assertEquals(503, answer.statusCode());
      assertEquals(Optional.of("order-503"), answer.headers().firstValue("X-Request-Id"));
      locker.rollback();
    }
    String line = service.awaitLine("A plant was not created");
    assertTrue(line.matches(pattern.replace("TRACE", TRACE)), line);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "text | [-0-9T:.]+Z INFO  \\[[^]]+] org\\.plantstore\\.access"
            + " \\[(?=.*request_id=order-200)(?=.*trace_id=TRACE)[^]]+] - request method=POST"
            + " path=/plants status=200 error=- outcome=created duration_ms=\\d+\\.\\d{3} bytes=41",
        "json | \\{.*\"loggerName\":\"org\\.plantstore\\.access\","
            + "\"mdc\": \\{(?=.*\"request_id\":\"order-200\")(?=.*\"trace_id\":\"TRACE\")[^}]+},"
            + "\"kvpList\": \\[\\{\"method\":\"POST\"},\\{\"path\":\"\\\\/plants\"},"
            + "\\{\"status\":\"200\"},\\{\"error\":\"-\"},\\{\"outcome\":\"created\"},"
            + "\\{\"duration_ms\":\"\\d+\\.\\d{3}\"},\\{\"bytes\":\"41\"}],.*}"
      })
  void access_log_has_a_line_for_each_request_of_the_api(String format, String pattern) {
    ServiceProcess service = serviceWith(format);
    service.get("/openapi.yaml", Map.of());
    service.create(FERN, headers("order-200"));
    service.get("/elsewhere?canary=query", Map.of("Authorization", "Bearer canary"));

    String line = service.awaitLine("order-200");
    assertTrue(line.matches(pattern.replace("TRACE", TRACE)), line);
    service.awaitLine("/elsewhere");
    service.awaitLine("openapi.yaml");
    assertFalse(service.output().contains("readiness"), "a line about a probe");
    for (String secret : List.of("canary", "eyJ")) {
      assertFalse(service.output().contains(secret), service.output());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "text | " + TEXT_LINE,
        "json | \\{\"timestamp\":\\d+,\"level\":\"[A-Z]+\",.*\"formattedMessage\":\".*}"
      })
  void each_line_has_the_format(String format, String pattern) {
    ServiceProcess service = serviceWith(format);

    service.awaitLine("Startup completed");
    assertLines(service, pattern);
  }

  @Test
  void lines_are_text_without_the_access_log_unless_something_else_is_asked_for() {
    ServiceProcess unset = ServiceProcess.shared();

    String line = unset.awaitLine("Startup completed");
    assertTrue(
        line.matches("[-0-9T:.]+Z INFO  \\[main] io\\.micronaut\\.runtime\\.Micronaut - .*\\d+"),
        line);
    assertLines(unset, TEXT_LINE);
    assertFalse(unset.output().contains(ACCESS), unset.output());
  }

  private static void assertLines(ServiceProcess service, String pattern) {
    String output = service.output();
    String complete = output.substring(0, output.lastIndexOf('\n'));
    complete.lines().forEach(line -> assertTrue(line.matches(pattern), line));
  }

  private static ServiceProcess startWithAccessLog(String format) {
    Map<String, String> environment = database.environment();
    environment.put("ACCESS_LOG", "on");
    environment.put("LOG_FORMAT", format);
    environment.put("DATABASE_TIMEOUT_SECONDS", "1");
    return new ServiceProcess(environment);
  }

  private static ServiceProcess serviceWith(String format) {
    return Objects.requireNonNull(services.get(format));
  }

  private static Map<String, String> headers(String requestId) {
    return Map.of("X-Request-Id", requestId, "traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01");
  }
}
