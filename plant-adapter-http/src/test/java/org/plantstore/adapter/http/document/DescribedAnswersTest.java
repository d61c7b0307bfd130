package org.plantstore.adapter.http.document;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;

/** The check that all other tests of this module pass through can fail. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class DescribedAnswersTest {

  private static final Map<String, List<String>> HEADERS =
      Map.of(
          "Content-Type",
          List.of("application/json"),
          "Link",
          List.of("<errors#1001>; rel=\"help\""),
          "X-Request-Id",
          List.of("a"));

  @Inject EmbeddedServer server;

  @Test
  void described_answer_is_accepted() {
    ServedDocument document = ServedDocument.of(server.getURI());
    document.requireDescribed(200, HEADERS, "{\"name\":\"fern\"}");
    document.requireDescribed(400, HEADERS, "{\"error\":1001,\"message\":\"\"}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "418 | {\"error\":1001,\"message\":\"\"}     | 418",
        "200 | {\"name\":7}                       | name",
        "200 | {\"name\":\"fern\",\"tag\":null}   | tag",
        "200 | {\"tag\":\"shade\"}                | name",
        "400 | {\"error\":2147483648,\"message\":\"\"} | error",
        "400 | {\"error\":1001}                      | message",
        "404 | {\"message\":\"\"}                 | error",
        "400 | {\"error\":1002,\"message\":\"\"}  | 1002 links to",
        "401 | {\"error\":1001,\"message\":\"\"}     | WWW-Authenticate",
        "503 | {\"error\":1001,\"message\":\"\"}     | Retry-After"
      })
  void other_answer_is_noticed(int status, String body, String fault) {
    ServedDocument document = ServedDocument.of(server.getURI());
    AssertionError noticed =
        assertThrows(AssertionError.class, () -> document.requireDescribed(status, HEADERS, body));
    assertTrue(String.valueOf(noticed.getMessage()).contains(fault), noticed.getMessage());
  }

  @Test
  void missing_id_missing_help_and_another_content_type_are_noticed() {
    ServedDocument document = ServedDocument.of(server.getURI());
    assertThrows(
        AssertionError.class,
        () ->
            document.requireDescribed(
                200, Map.of("Content-Type", List.of("application/json")), "{\"name\":\"fern\"}"));
    assertThrows(
        AssertionError.class,
        () ->
            document.requireDescribed(
                400,
                Map.of("Content-Type", List.of("application/json"), "X-Request-Id", List.of("a")),
                "{\"error\":1001,\"message\":\"\"}"));
    assertThrows(
        AssertionError.class,
        () ->
            document.requireDescribed(
                200,
                Map.of("Content-Type", List.of("text/plain"), "X-Request-Id", List.of("a")),
                "{\"name\":\"fern\"}"));
  }
}
