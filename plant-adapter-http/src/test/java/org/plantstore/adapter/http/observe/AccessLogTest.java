package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.FakeCreatePlant;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.connection.RawRequests;
import org.plantstore.domain.PlantStoreUnavailableException;

/** One line for each request, with nothing in it that is not meant to be seen. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class AccessLogTest {

  @Inject EmbeddedServer server;
  @Inject FakeCreatePlant createPlant;

  @Test
  void every_request_has_one_line_with_its_ids_and_what_became_of_it() throws IOException {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(
          server,
          RawRequests.createRequest(
                  "X-Request-Id: first\r\ntraceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n")
              + "GET /errors HTTP/1.1\r\nHost: x\r\n\r\n"
              + "GET /elsewhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      createPlant.fail(new PlantStoreUnavailableException("away"));
      RawRequests.send(server, RawRequests.createRequest("Connection: close\r\n"));

      List<ILoggingEvent> lines = log.await(4);
      assertEquals(
          Map.of("request_id", "first", "trace_id", trace), lines.get(0).getMDCPropertyMap());
      assertLine("POST /plants 200 - created 15", lines.get(0));
      assertEquals("GET /errors 200 - served", lineOf(lines.get(1)).replaceFirst(" \\d{4,}$", ""));
      assertLine("GET /elsewhere 401 4001 refused 94", lines.get(2));
      assertLine("POST /plants 503 5002 failed 100", lines.get(3));
      lines.forEach(line ->
          assertTrue(
              Log.value(line, "duration_ms").matches("\\d+\\.\\d{3}"),
              Log.value(line, "duration_ms")));
      assertEquals(4, lines.size());
    }
  }

  @Test
  void what_cannot_be_read_has_a_line_too() throws IOException {
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(server, "canary canary\r\n\r\n");
      RawRequests.send(server, "POST /plants HTTP/1.1\r\n\r\n");

      List<ILoggingEvent> lines = log.await(2);
      assertLine("- - 400 4005 refused 156", lines.get(0));
      assertLine("POST /plants 400 4005 refused 156", lines.get(1));
    }
  }

  @Test
  void request_whose_client_goes_away_has_a_line_without_a_status() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    createPlant.behave(plant -> {
      begun.countDown();
      FakeCreatePlant.await(goOn);
      return plant.plant();
    });
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.abandon(server, RawRequests.createRequest("X-Request-Id: gone\r\n"), begun);

      ILoggingEvent line = log.await(1).get(0);
      goOn.countDown();
      assertEquals("gone", line.getMDCPropertyMap().get("request_id"));
      assertLine("POST /plants - - unanswered 0", line);
    }
  }

  @Test
  void what_comes_behind_the_last_request_has_no_line() throws IOException {
    String last = RawRequests.createRequest("Connection: close\r\n");
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(server, last + last);
      RawRequests.send(server, last);

      log.await(2).forEach(line -> assertLine("POST /plants 200 - created 15", line));
    }
  }

  @Test
  void neither_query_nor_token_nor_body_nor_origin_is_in_a_line() throws IOException {
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(
          server,
          String.join(
              "\r\n",
              "POST http://canary:canary@x/plants?token=canary#canary HTTP/1.1",
              "Host: x",
              "X-Request-Id: canary canary",
              "Authorization: Bearer canary",
              "Cookie: canary",
              "traceparent: canary",
              "Connection: close",
              "Content-Length: 6",
              "",
              "canary"));

      ILoggingEvent line = log.await(1).get(0);
      assertTrue(lineOf(line).startsWith("POST /plants 4"), lineOf(line));
      String all = line.getFormattedMessage() + line.getKeyValuePairs() + line.getMDCPropertyMap();
      assertFalse(all.contains("canary"), all);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CONNECT alice:canary@host:443", "POST //alice:canary@host/plants",
        "POST https:alice:canary@host/", "POST ttp:/alice:canary@host/plants",
        "GET mailto:canary", "GET /plants%3Ftoken=canary",
        "GET /plants%23token=canary", "GET /alice:canary%40host",
        "GET /alice:canary@host", "GET //canary/plants"
      })
  void what_may_be_a_password_is_no_path(String methodAndTarget) throws IOException {
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(
          server, methodAndTarget + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

      assertFalse(lineOf(log.await(1).get(0)).contains("canary"));
    }
  }

  @Test
  void path_is_bounded_and_legible() throws IOException {
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(
          server,
          "GETGETGETGETGETGET /"
              + "x".repeat(1_000)
              + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      RawRequests.send(server, "GET /a\"b\\c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      RawRequests.send(
          server, "GET /\u00e4\u001b[1m HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

      List<ILoggingEvent> lines = log.await(3);
      assertEquals("GETGETGETGETGETG...", Log.value(lines.get(0), "method"));
      assertEquals("/" + "x".repeat(255) + "...", Log.value(lines.get(0), "path"));
      assertEquals("/a?b?c", Log.value(lines.get(1), "path"));
      String path = Log.value(lines.get(2), "path");
      assertTrue(path.matches("[ -~]+"), path);
    }
  }

  private static void assertLine(String expected, ILoggingEvent line) {
    assertEquals(expected, lineOf(line));
  }

  private static String lineOf(ILoggingEvent line) {
    return String.join(
        " ",
        List.of("method", "path", "status", "error", "outcome", "bytes").stream()
            .map(key -> Log.value(line, key))
            .toList());
  }
}
