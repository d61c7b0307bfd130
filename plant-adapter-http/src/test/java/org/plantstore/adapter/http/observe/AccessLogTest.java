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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.connection.RawRequests;

/** Nothing is in the line about a request that is not meant to be seen. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class AccessLogTest {

  @Inject EmbeddedServer server;

  @Test
  void neither_query_nor_token_nor_body_nor_origin_is_in_a_line() throws IOException {
    ILoggingEvent line =
        lineAbout(
            """
            POST http://canary:canary@x/plants?token=canary#canary HTTP/1.1
            Host: x
            X-Request-Id: canary canary
            Authorization: Bearer canary
            Cookie: canary
            traceparent: canary
            Connection: close
            Content-Length: 6

            canary\
            """
                .replace("\n", "\r\n"));

    assertEquals("POST", Log.value(line, "method"));
    assertEquals("/plants", Log.value(line, "path"));
    String all = line.getFormattedMessage() + line.getKeyValuePairs() + line.getMDCPropertyMap();
    assertFalse(all.contains("canary"), all);
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
    String path = pathOf(methodAndTarget);
    assertFalse(path.contains("canary"), path);
  }

  @Test
  void path_is_bounded_and_legible() throws IOException {
    assertEquals("/" + "x".repeat(255) + "...", pathOf("GET /" + "x".repeat(1_000)));
    assertEquals("/a?b?c", pathOf("GET /a\"b\\c"));
    String path = pathOf("GET /\u00e4\u001b[1m");
    assertTrue(path.matches("[ -~]+"), path);
    ILoggingEvent line = lineAbout("GET".repeat(6) + " / HTTP/1.1\r\nConnection: close\r\n\r\n");
    assertEquals("GETGETGETGETGETG...", Log.value(line, "method"));
  }

  private String pathOf(String methodAndTarget) throws IOException {
    return Log.value(
        lineAbout(methodAndTarget + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "path");
  }

  private ILoggingEvent lineAbout(String request) throws IOException {
    try (Log log = new Log(AccessLog.LOGGER)) {
      RawRequests.send(server, request);
      return log.await(1).get(0);
    }
  }
}
