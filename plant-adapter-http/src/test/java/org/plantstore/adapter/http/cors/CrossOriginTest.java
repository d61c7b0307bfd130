package org.plantstore.adapter.http.cors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.socket.SocketUtils;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.Tokens;

/** Tests which requests pages of other origins may send, and which responses they may read. */
@Property(name = "cors.allowed-origins", value = "https://a.example  http://localhost:3000")
class CrossOriginTest extends ServerTest {

  private static final String ALLOWED = "https://a.example";
  private static final String OTHER = "https://b.example";
  private static final String UNLISTABLE =
      "'this origin cannot be added to CORS_ALLOWED_ORIGINS, so serve the page from an origin such"
          + " as https://app.example.org, and add that origin.'";

  /** A preflight is allowed even if the request will be refused, so that the page sees why. */
  @ParameterizedTest
  @CsvSource({
    ALLOWED + ", /plants, POST",
    "http://localhost:3000, /plants, POST",
    ALLOWED + ", /elsewhere, POST",
    ALLOWED + ", /plants, DELETE"
  })
  void preflight_needs_no_token_and_allows_every_header(String origin, String path, String method)
      throws IOException {
    String answer = preflight(server, path, method, origin);

    assertAnswer(200, origin, answer);
    assertHeader(method, "allow-methods", answer);
    assertHeader("authorization,content-type", "allow-headers", answer);
    assertHeader("1800", "max-age", answer);
    assertFalse(answer.contains("-allow-credentials"), answer);
  }

  /** The last request is refused before the framework sees it. */
  @ParameterizedTest
  @CsvSource({
    "200, POST /plants, Authorization: Bearer TOKEN~Content-Type: application/json",
    "400, POST /plants, Authorization: Bearer TOKEN",
    "401, POST /plants, X: none",
    "405, GET /plants, Authorization: Bearer TOKEN",
    "200, GET /openapi.yaml, X: none",
    "400, POST /plants, Transfer-Encoding: unknown"
  })
  void only_pages_of_an_allowed_origin_can_read_the_response(
      int status, String start, String headers) throws IOException {
    String lines = headers.replace("TOKEN", Tokens.valid()).replace("~", "\r\n");
    String allowed = send(server, start, "Origin: " + ALLOWED, lines);
    assertAnswer(status, ALLOWED, allowed);
    assertHeader("X-Request-Id, Retry-After, Link, WWW-Authenticate", "expose-headers", allowed);

    for (String other : List.of(OTHER, "null", "*", ALLOWED + ".evil.example")) {
      assertAnswer(status, "", send(server, start, "Origin: " + other, lines));
    }
    assertAnswer(status, "", send(server, start, lines));
  }

  @ParameterizedTest
  @CsvSource({
    OTHER
        + (", 'the origin \"" + OTHER + "\"',")
        + "'to allow them, add the origin to CORS_ALLOWED_ORIGINS.'",
    "null, 'the origin \"null\"'," + UNLISTABLE,
    "https://evil.example?token=s3, this origin," + UNLISTABLE,
    "https://user:s3@evil.example, this origin," + UNLISTABLE
  })
  void refusal_of_a_preflight_names_the_origin_and_the_setting(
      String origin, String named, String cure) throws IOException {
    String message = "Web pages from " + named + " may not call the service; " + cure;
    try (Log log = new Log("org.plantstore.adapter.http.ErrorResponses")) {
      while (log.await(0).isEmpty()) { // the log is limited to one line per second
        String answer = preflight(server, "/elsewhere", "POST", origin);
        assertAnswer(403, "", answer);
        String json = message.replace("\"", "\\\"");
        assertTrue(answer.endsWith("{\"error\":4007,\"message\":\"" + json + "\"}"), answer);
        assertEquals(List.of(), headers(answer, "www-authenticate"));
      }
      assertEquals(
          "A request was rejected with error 4007: " + message,
          log.await(1).get(0).getFormattedMessage());
    }
  }

  @Test
  void asterisk_allows_every_origin_and_no_origin_is_allowed_by_default() throws IOException {
    try (EmbeddedServer any = start("*");
        EmbeddedServer none = start("")) {
      assertAnswer(200, OTHER, preflight(any, "/plants", "POST", OTHER));
      String answer = preflight(none, "/plants", "POST", OTHER);
      assertEquals(List.of(403), statuses(answer));
      assertEquals(List.of(), headers(answer, "(?:vary|access-control-.*)"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a.example", "https://a.example/", "https://A.example", "https://a.example:443",
        "http://a.example:80", "https://*.example", "https://a,https://b", "https://me@a.example"
      })
  void setting_refuses_text_that_no_browser_sends_as_an_origin(String value) {
    String allowed = "http://[::1]:80808 https://192.0.2.1 moz-extension://0f3b http://a:443";
    assertEquals(4, AllowedOrigins.of(allowed).origins().size());
    assertEquals(
        "CORS_ALLOWED_ORIGINS must be a space-separated list of lowercase origins without a path"
            + " or default port, such as https://app.example.org, but contains \""
            + value
            + '"',
        assertThrows(ConfigurationException.class, () -> AllowedOrigins.of(OTHER + " " + value))
            .getMessage());
  }

  @Test
  void management_port_handles_a_preflight_like_any_other_request() throws IOException {
    // The kernel does not assign these ports to clients, such as those of other tests.
    int port = SocketUtils.findAvailableTcpPort(10_000, 32_767);
    Map<String, Object> settings =
        Map.of(
            "jwt.secret",
            Tokens.SECRET,
            "cors.allowed-origins",
            ALLOWED,
            "micronaut.server.port",
            port,
            "endpoints.all.port",
            port);
    try (EmbeddedServer management = ApplicationContext.run(EmbeddedServer.class, settings)) {
      int status = statuses(send(management, "OPTIONS /elsewhere", "X: none")).get(0);
      for (String origin : List.of(ALLOWED, OTHER)) {
        String answer = preflight(management, "/elsewhere", "POST", origin);
        assertEquals(List.of(status), statuses(answer), answer);
        assertFalse(answer.contains("4007"), answer);
        assertEquals(List.of(), headers(answer, "(?:vary|access-control-.*)"), answer);
      }
    }
  }

  private static EmbeddedServer start(String origins) {
    return ApplicationContext.run(
        EmbeddedServer.class, Map.of("jwt.secret", Tokens.SECRET, "cors.allowed-origins", origins));
  }

  private static String preflight(EmbeddedServer server, String path, String method, String origin)
      throws IOException {
    return send(
        server,
        "OPTIONS " + path,
        "Origin: " + origin,
        "Access-Control-Request-Method: " + method,
        "Access-Control-Request-Headers: authorization,content-type");
  }

  private static String send(EmbeddedServer server, String start, String... headers)
      throws IOException {
    String head = start + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    String length = "\r\nContent-Length: " + FERN.length() + "\r\n\r\n";
    return send(server, head + String.join("\r\n", headers) + length + FERN);
  }

  /**
   * Asserts that pages of this origin can read the response. If the origin is empty, asserts that
   * no page of another origin can read the response.
   */
  private static void assertAnswer(int status, String origin, String answer) {
    assertEquals(List.of(status), statuses(answer), answer);
    assertEquals(List.of("origin"), headers(answer, "vary"), answer);
    if (origin.isEmpty()) {
      assertEquals(List.of(), headers(answer, "access-control-.*"), answer);
    } else {
      assertHeader(origin, "allow-origin", answer);
    }
  }

  private static void assertHeader(String value, String name, String answer) {
    assertEquals(List.of(value), headers(answer, "access-control-" + name), answer);
  }
}
