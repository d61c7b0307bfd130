package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** The log: its format, and what it contains about each request. */
class LogsTest {

  private static final LoggerContext LOGS = new LoggerContext();
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ODD = "\"\\\n\t\u0000\u2028\ud800 \ud83c\udf31";
  private static final String SERVED_OR_REFUSED =
      "(?s)HTTP/1\\.1 (200 .*|4.*\r\n\r\n\\{\"error\":4\\d{3},\"message\":\".+\"})";

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  static {
    LOGS.setMDCAdapter(new LogbackMDCAdapter());
  }

  private static LoggingEvent event(Level level, String message, Throwable... failure) {
    Throwable thrown = failure.length == 0 ? null : failure[0];
    return new LoggingEvent("any", LOGS.getLogger("any"), level, message, thrown, null);
  }

  @Test
  void json_log_line_is_one_flat_object_with_typed_values_whatever_the_text()
      throws JsonProcessingException {
    LoggingEvent event = event(Level.WARN, ODD, new IllegalStateException(ODD));
    event.setMDCPropertyMap(Map.of("request_id", ODD));
    event.addKeyValuePair(new KeyValuePair("status", 200));
    event.addKeyValuePair(new KeyValuePair("bytes", Long.MAX_VALUE));
    event.addKeyValuePair(new KeyValuePair("duration_ms", new BigDecimal("0.001")));
    event.addKeyValuePair(new KeyValuePair("path", ODD));
    event.addKeyValuePair(new KeyValuePair("error", "-"));

    String line = new String(new JsonLines().doLayout(event).getBytes(UTF_8), UTF_8);
    assertEquals(line.length() - 1, line.indexOf('\n'), line);
    JsonNode members = JSON.readTree(line);
    String kept = ODD.replace("\ud800", "?");
    assertEquals(kept, members.get("request_id").textValue());
    assertEquals(kept, members.get("message").textValue());
    assertEquals(200, members.get("status").numberValue());
    assertEquals(Long.MAX_VALUE, members.get("bytes").numberValue());
    assertEquals(0.001, members.get("duration_ms").numberValue());
    assertEquals(null, members.get("error"));
    assertTrue(members.get("stack_trace").textValue().contains("LogsTest"), line);
    members.forEach(member -> assertTrue(member.isValueNode(), line));
  }

  /** The access log contains a line for each request to the API, and none for probes. */
  @Test
  @Tag("slow")
  void access_log_and_warnings_contain_the_request_id_and_the_trace_id() throws Exception {
    Database database = Database.create();
    Map<String, String> environment =
        database.environment("ACCESS_LOG", "on", "LOG_FORMAT", "json");
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      database.execute(
          "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS"
              + " $$BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'the disk is full'; END$$",
          "CREATE TRIGGER fill BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION fill()");
      assertEquals(503, create(service, "late"));
      database.execute("DROP FUNCTION fill CASCADE");
      assertEquals(200, create(service, "order"));

      JsonNode warning = JSON.readTree(service.awaitLine("Create requests failed with error 5002"));
      assertEquals("WARN late " + TRACE, values(warning, "level", "request_id", "trace_id"));
      JsonNode line = JSON.readTree(service.awaitLine("\"order\""));
      assertEquals(
          "org.plantstore.access request " + TRACE + " POST /plants 200 created 15 developer",
          values(
              line, "logger message trace_id method path status outcome bytes caller".split(" ")));
      assertFalse(service.output().contains("readiness"), service::output);
    }
  }

  /** Sends request targets that a framework may parse differently to both ports. */
  @Test
  @Tag("slow")
  void no_request_target_makes_the_service_fail_or_log_an_exception() throws Exception {
    ServiceProcess service = ServiceProcess.shared();
    List<String> parts =
        List.of(
            "/ / // . .. %2F %FF % ? # [ ] : @ ; * \\ | x plants http:// health \u00e9".split(" "));
    Random random = new Random(53);
    List<Callable<String>> requests = new ArrayList<>();
    for (int number = 0; number < 2_000; number++) {
      String target =
          number == 0
              ? "//x//"
              : random
                  .ints(random.nextInt(1, 7), 0, parts.size())
                  .mapToObj(parts::get)
                  .collect(joining());
      int port = number % 2 == 0 ? service.port : service.managementPort;
      String token =
          number % 4 < 2 ? "" : "Authorization: Bearer " + ServiceProcess.token() + "\r\n";
      requests.add(() -> assertServedOrRefused(port, target, token));
    }
    ExecutorService clients = Executors.newFixedThreadPool(8);
    for (Future<String> response : clients.invokeAll(requests)) {
      response.get();
    }
    clients.shutdown();
    assertFalse(service.output().contains("Exception"), service::output);
  }

  private static String assertServedOrRefused(int port, String target, String headers)
      throws IOException {
    try (Socket socket = new Socket("localhost", port)) {
      String head = "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
      socket.getOutputStream().write((head + headers + "\r\n").getBytes(ISO_8859_1));
      String response = new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
      assertTrue(response.matches(SERVED_OR_REFUSED), () -> target + " received " + response);
      return response;
    }
  }

  private static int create(ServiceProcess service, String id) {
    String plant = ServiceProcess.json(1, "fern");
    return ServiceProcess.send(
            ServiceProcess.createRequest(service.address(), ServiceProcess.token(), plant)
                .header("X-Request-Id", id)
                .header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01"))
        .statusCode();
  }

  private static String values(JsonNode line, String... names) {
    return Stream.of(names).map(name -> line.path(name).asText()).collect(joining(" "));
  }
}
