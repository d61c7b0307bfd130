package org.plantstore.adapter.http.document;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;

/** The check that all other tests of this module pass through can fail. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class DescribedAnswersTest {

  @Inject EmbeddedServer server;

  @Test
  void described_answer_is_accepted() {
    ServedDocument document = ServedDocument.of(server.getURI());
    document.requireDescribed(200, headers(), "{\"name\":\"fern\"}");
    document.requireDescribed(400, headers(), "{\"error\":1001,\"message\":\"\"}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "418 | {\"error\":1001,\"message\":\"\"}       |              | 418",
        "200 | {\"name\":7}                            |              | name",
        "200 | {\"name\":\"fern\",\"tag\":null}        |              | tag",
        "200 | {\"tag\":\"shade\"}                     |              | name",
        "200 | {\"name\":\"fern\"}                     | X-Request-Id | input string \"text/plain\"",
        "200 | {\"name\":\"fern\"}                     | Content-Type | Content-Type",
        "400 | {\"error\":2147483648,\"message\":\"\"} |              | error",
        "400 | {\"error\":1001}                        |              | message",
        "404 | {\"message\":\"\"}                      |              | error",
        "400 | {\"error\":1002,\"message\":\"\"}       |              | 1002 links to",
        "400 | {\"error\":1001,\"message\":\"\"}       | Link         | input string \"text/plain\"",
        "401 | {\"error\":1001,\"message\":\"\"}       |              | WWW-Authenticate",
        "503 | {\"error\":1001,\"message\":\"\"}       |              | Retry-After"
      })
  void other_answer_is_noticed(int status, String body, @Nullable String replaced, String fault) {
    ServedDocument document = ServedDocument.of(server.getURI());
    Map<String, List<String>> headers = headers();
    headers.replace(replaced, List.of("text/plain"));
    AssertionError noticed =
        assertThrows(AssertionError.class, () -> document.requireDescribed(status, headers, body));
    assertTrue(String.valueOf(noticed.getMessage()).contains(fault), noticed.getMessage());
  }

  private static Map<String, List<String>> headers() {
    return new HashMap<>(
        Map.of(
            "Content-Type",
            List.of("application/json"),
            "Link",
            List.of("<errors#1001>; rel=\"help\""),
            "X-Request-Id",
            List.of("a")));
  }
}
