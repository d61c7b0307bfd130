package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.lang.ProcessBuilder.Redirect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.SocketFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.app.development.DevelopmentKey;

/** What the service writes, and what can be found of a request in it. */
@Execution(ExecutionMode.CONCURRENT)
class LogsTest {

  private static final String FERN = "{\"id\":1,\"name\":\"fern\",\"tag\":\"evergreen shade\"}";
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String DROPPED =
      "Lines were dropped, because standard output was not read: ";

  /** Their lines exceed the capacity of a pipe and of the service. */
  private static final int REQUESTS_OF_A_STALL = 6_000;

  private static final String TEXT_LINE =
      "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z [A-Z]+ +\\[.*";

  /** The access log has a line for each request to the API, and none about a probe. */
  @Tag("slow")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "text | "
            + TEXT_LINE
            + "| (?s).*WARN .*ErrorAnswers \\[(?=.*request_id=order-503)(?=.*trace_id=TRACE).*] -"
            + " Creates failed with 5002.*"
            + "| [-0-9T:.]+Z INFO  \\[[^]]+] org\\.plantstore\\.access"
            + " \\[(?=.*request_id=order-200)(?=.*trace_id=TRACE)[^]]+] - request method=POST"
            + " path=/plants status=200 error=- outcome=created duration_ms=\\d+\\.\\d{3} bytes=39 caller=developer",
        "json | \\{\"timestamp\":\"[-0-9T:.]+Z\",\"level\":\"[A-Z]+\",\"logger\":\"[^\"]+\",.*}"
            + "| (?=.*\"request_id\":\"order-503\")(?=.*\"trace_id\":\"TRACE\").*\"level\":\"WARN\","
            + ".*\"message\":\"Creates failed with 5002.*"
            + "| \\{\"timestamp\":\"[^\"]+\",\"level\":\"INFO\",\"logger\":\"org.plantstore.access\","
            + "\"thread\":\"[^\"]+\",\"message\":\"request\","
            + "(?=.*\"request_id\":\"order-200\")(?=.*\"trace_id\":\"TRACE\")[^{}]*"
            + "\"method\":\"POST\",\"path\":\"/plants\",\"status\":200,\"outcome\":\"created\","
            + "\"duration_ms\":\\d+\\.\\d{3},\"bytes\":39,\"caller\":\"developer\"}"
      })
  void each_line_has_the_format_and_the_ids_of_its_request(
      String format, String line, String warning, String access) throws SQLException {
    Database database = Database.create();
    Map<String, String> environment =
        database.environment(
            Map.of(
                "ACCESS_LOG", "on",
                "JWT_REQUIRED_CLAIMS", "sub=developer",
                "LOG_FORMAT", format,
                "DATABASE_TIMEOUT_SECONDS", "1"));
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      try (Connection locker = database.lock("plant")) {
        assertEquals(503, service.create(FERN, headers("order-503")).statusCode());
        locker.rollback();
      }
      assertEquals(200, service.create(FERN, headers("order-200")).statusCode());

      assertLike(access, service.awaitLine("order-200"));
      String stranger =
          DevelopmentKey.token(DevelopmentKey.SECRET, "a stranger", Duration.ofHours(1));
      Map<String, String> token = Map.of("Authorization", "Bearer " + stranger);
      assertEquals(403, service.create(FERN, token).statusCode());
      String refusal = service.awaitLine("a%20stranger");
      assertTrue(refusal.contains("403") && refusal.contains("4006"), refusal);
      assertLike(warning, service.awaitLine("Creates failed with 5002"));
      assertLines(service, line);
      assertFalse(service.output().contains("readiness"), service::output);
    }
  }

  @Test
  @Tag("slow")
  void creates_go_on_while_the_log_is_not_read_and_each_line_is_written_or_counted()
      throws Exception {
    Map<String, String> environment = Database.create().environment(Map.of("ACCESS_LOG", "on"));
    ProcessBuilder command = ServiceProcess.java(ServiceProcess.CLASS_PATH);
    try (ServiceProcess service =
        new ServiceProcess(command, environment, Redirect.PIPE).awaitReady()) {
      for (int number = 0; number < REQUESTS_OF_A_STALL; number++) {
        assertEquals(401, service.get("/" + "x".repeat(250), Map.of()).statusCode());
      }
      assertEquals(200, service.create(1, "fern").statusCode());

      List<String> lines = new ArrayList<>();
      try (BufferedReader output = service.outputReader()) {
        while (lines.isEmpty() || !lines.get(lines.size() - 1).contains(DROPPED)) {
          lines.add(output.readLine());
        }
        assertEquals(200, service.create(2, "fern").statusCode());
        service.terminate();
        output.lines().forEach(lines::add);
      }

      List<String> counts = lines.stream().filter(line -> line.contains(DROPPED)).toList();
      assertEquals(1, counts.size(), counts::toString);
      assertLike(TEXT_LINE, counts.get(0));
      assertLike(".*WARN.*", counts.get(0));
      long written = lines.stream().filter(line -> line.contains("plantstore.access")).count();
      int dropped = Integer.parseInt(counts.get(0).replaceFirst(".*" + DROPPED + "(\\d+).*", "$1"));
      assertEquals(REQUESTS_OF_A_STALL + 2, written + dropped);
    }
  }

  @Test
  void lines_are_text_without_the_access_log_unless_something_else_is_asked_for() throws Exception {
    ServiceProcess unset = ServiceProcess.shared();
    // Anyone can send a malformed body, so it has no line.
    try (RawClient anyone = new RawClient(SocketFactory.getDefault(), unset.port)) {
      anyone.send("POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
      assertEquals(401, anyone.status());
    }
    unset.get("/openapi.yaml", Map.of());

    assertLike(
        "[-0-9T:.]+Z INFO  \\[main] org\\.plantstore\\.app\\.Main - .*\\d+ ms",
        unset.awaitLine("Startup completed"));
    assertEquals(0, unset.linesWith("WARN  [main]"), unset::output);
    assertLines(unset, TEXT_LINE);
    assertFalse(unset.output().contains("org.plantstore.access"), unset::output);
  }

  private static void assertLines(ServiceProcess service, String pattern) {
    String output = service.output();
    String complete = output.substring(0, output.lastIndexOf('\n'));
    complete.lines().forEach(line -> assertLike(pattern, line));
  }

  private static void assertLike(String pattern, String line) {
    assertTrue(line.matches(pattern.replace("TRACE", TRACE)), line);
  }

  private static Map<String, String> headers(String requestId) {
    return Map.of("X-Request-Id", requestId, "traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01");
  }
}
