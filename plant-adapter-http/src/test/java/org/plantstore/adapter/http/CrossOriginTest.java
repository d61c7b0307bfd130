package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.observe.AllowedOrigins;

/** What pages of other origins may ask and read (Fetch standard, section 3.3). */
@Property(name = "cors.allowed-origins", value = "https://a.example  http://localhost:3000")
class CrossOriginTest extends ServerTest {

  private static final String ALLOWED = "https://a.example";
  private static final String PREFLIGHT =
      """
      Access-Control-Request-Method: POST\r
      Access-Control-Request-Headers: authorization,content-type\r
      """;

  @ParameterizedTest
  @ValueSource(strings = {ALLOWED, "http://localhost:3000"})
  void preflight_has_no_token_and_is_allowed_every_header(String origin) throws IOException {
    String answer = send(server, "OPTIONS /plants", "Origin: " + origin + "\r\n" + PREFLIGHT);

    assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
    assertHeader("access-control-allow-origin: " + origin, answer);
    assertHeader("access-control-allow-methods: POST", answer);
    assertHeader("access-control-allow-headers: authorization,content-type", answer);
    assertHeader("access-control-max-age: 1800", answer);
    assertHeader("vary: origin", answer);
    assertEquals(0, count("access-control-allow-credentials", answer));
  }

  /** So that the page reads why the request is refused. */
  @ParameterizedTest
  @CsvSource({"/elsewhere, POST", "/plants, DELETE", "/, PATCH"})
  void preflight_of_a_request_that_will_be_refused_is_allowed_too(String path, String method)
      throws IOException {
    String asked = "Origin: " + ALLOWED + "\r\nAccess-Control-Request-Method: " + method + "\r\n";
    String answer = send(server, "OPTIONS " + path, asked);
    assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
    assertHeader("access-control-allow-methods: " + method, answer);
  }

  /** The last ones are refused before the framework sees them, or by its own handlers. */
  @ParameterizedTest
  @CsvSource({
    "200, POST /plants, Authorization: Bearer TOKEN~Content-Type: application/json",
    "400, POST /plants, Authorization: Bearer TOKEN",
    "401, POST /plants, X: none",
    "404, GET /elsewhere, Authorization: Bearer TOKEN",
    "405, GET /plants, Authorization: Bearer TOKEN",
    "200, GET /openapi.yaml, X: none",
    "400, POST /plants, Transfer-Encoding: unknown"
  })
  void every_answer_can_be_read_by_a_page_of_an_allowed_origin_only(
      int status, String start, String headers) throws IOException {
    String lines = headers.replace("TOKEN", Tokens.valid()).replace("~", "\r\n") + "\r\n";
    String allowed = send(server, start, "Origin: " + ALLOWED + "\r\n" + lines);
    assertTrue(allowed.startsWith("HTTP/1.1 " + status + " "), allowed);
    assertReadable(ALLOWED, allowed);

    for (String other : List.of("https://b.example", "null", "*", ALLOWED + ".evil.example")) {
      String refused = send(server, start, "Origin: " + other + "\r\n" + lines);
      assertEquals(0, count("access-control-", refused), refused);
      assertHeader("vary: origin", refused);
    }
    assertHeader("vary: origin", send(server, start, lines));
  }

  @Test
  void preflight_of_another_origin_is_a_request_without_a_token() throws IOException {
    String answer = send(server, "OPTIONS /plants", "Origin: https://b.example\r\n" + PREFLIGHT);
    assertTrue(answer.startsWith("HTTP/1.1 401 "), answer);
    assertEquals(0, count("access-control-", answer), answer);
  }

  @Test
  void asterisk_allows_every_origin_and_nothing_is_the_default() throws IOException {
    try (EmbeddedServer any = start("*");
        EmbeddedServer none = start("")) {
      String request = "Origin: https://b.example\r\n" + PREFLIGHT;
      assertHeader(
          "access-control-allow-origin: https://b.example", send(any, "OPTIONS /plants", request));
      String answer = send(none, "OPTIONS /plants", request);
      assertTrue(answer.startsWith("HTTP/1.1 401 "), answer);
      assertEquals(0, count("access-control-|vary", answer), answer);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://a.example", "http://localhost:3000", "http://[::1]:80808", "https://192.0.2.1",
        "capacitor://localhost", "moz-extension://0f3b", "* https://a.example", "http://a:443"
      })
  void origins_are_accepted(String value) {
    assertEquals(List.of(value.split(" ")), AllowedOrigins.of(value).origins());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a.example", "https://a.example/", "https://a.example/page", "https://A.example",
        "https://a.example:443", "http://a.example:80", "https://*.example", "HTTPS://a.example",
        "https://", "https://a.example,https://b.example", "https://me@a.example", "null"
      })
  void what_no_browser_sends_is_refused(String value) {
    ConfigurationException refusal =
        assertThrows(
            ConfigurationException.class, () -> AllowedOrigins.of("https://b.example " + value));
    assertEquals(
        "CORS_ALLOWED_ORIGINS must be a list such as https://app.example.org, separated by spaces,"
            + " in lower case and without a path or a default port, but has \""
            + value
            + '"',
        refusal.getMessage());
  }

  private static EmbeddedServer start(String origins) {
    return ApplicationContext.run(
        EmbeddedServer.class, Map.of("jwt.secret", Tokens.SECRET, "cors.allowed-origins", origins));
  }

  private static String send(EmbeddedServer server, String start, String headers)
      throws IOException {
    String head = start + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers;
    return send(server, head + "Content-Length: " + FERN.length() + "\r\n\r\n" + FERN);
  }

  private static void assertReadable(String origin, String answer) {
    assertHeader("access-control-allow-origin: " + origin, answer);
    assertHeader(
        "access-control-expose-headers: X-Request-Id, Retry-After, Link, WWW-Authenticate", answer);
    assertHeader("vary: origin", answer);
  }

  private static void assertHeader(String line, String answer) {
    assertEquals(1, count(line + "\r\n", answer), line + " in " + answer);
  }

  private static long count(String header, String answer) {
    String pattern = header.contains("|") ? "(" + header + ")" : Pattern.quote(header);
    return Pattern.compile("(?im)^" + pattern).matcher(answer).results().count();
  }
}
