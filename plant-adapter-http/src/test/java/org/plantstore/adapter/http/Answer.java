package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.model.Request;
import com.atlassian.oai.validator.model.SimpleResponse;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.fixture.TestCertificate;

/**
 * A response. An error, or the response to a create request, must agree with the OpenAPI document.
 */
public record Answer(int status, HttpHeaders headers, String body) {

  public static final String DOCUMENT =
      assertDoesNotThrow(() ->
          new String(
              requireNonNull(Answer.class.getResourceAsStream("document/openapi.yaml"))
                  .readAllBytes(),
              UTF_8));

  private static final OpenApiInteractionValidator VALIDATOR =
      OpenApiInteractionValidator.createForInlineApiSpecification(DOCUMENT)
          .withBasePathOverride("/")
          .build();

  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .sslContext(TestCertificate.TRUST)
          .build();

  public static Answer create(URI server, String token) {
    return to(
        request(server.resolve("/plants"))
            .setHeader("Authorization", "Bearer " + token)
            .POST(HttpRequest.BodyPublishers.ofString(ServerTest.FERN)));
  }

  /** Returns a request with a valid token and the content type of a create request. */
  public static HttpRequest.Builder request(URI address) {
    return HttpRequest.newBuilder(address)
        .timeout(Duration.ofMinutes(1))
        .header("Authorization", "Bearer " + Tokens.valid())
        .header("Content-Type", "application/json");
  }

  public static Answer to(HttpRequest.Builder request) {
    HttpResponse<String> response =
        assertDoesNotThrow(
            () -> CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString(UTF_8)));
    Answer answer = new Answer(response.statusCode(), response.headers(), response.body());
    if (answer.status >= 400 || response.request().method().equals("POST")) {
      answer.requireDescribed();
      assertEquals(Optional.of("no-store"), answer.header("Cache-Control"));
      assertEquals(Optional.of("nosniff"), answer.header("X-Content-Type-Options"));
    }
    return answer;
  }

  /**
   * Requires that the OpenAPI document describes this response, and that an error contains its
   * link. Responses with the statuses 404 and 405 must conform to the description of 400.
   */
  private void requireDescribed() {
    SimpleResponse.Builder response =
        SimpleResponse.Builder.status(status == 404 || status == 405 ? 400 : status).withBody(body);
    headers.map().forEach(response::withHeader);
    assertEquals(
        List.of(),
        VALIDATOR.validateResponse("/plants", Request.Method.POST, response.build()).getMessages());
    if (status != 200) {
      String link = String.join(", ", headers.allValues("Link"));
      String error = link.replaceFirst("^<(?:\\.\\./)*errors#(\\d+)>; rel=\"help\"$", "$1");
      assertTrue(body.startsWith("{\"error\":" + error + ","), () -> body + " links to " + link);
    }
  }

  public static void assertError(Answer answer, ErrorNumber error) {
    assertError(answer, error.status().getCode(), error.number(), error.description());
  }

  public static void assertError(Answer answer, int status, int error, String message) {
    assertAnswer(answer, status, "{\"error\":" + error + ",\"message\":\"" + message + "\"}");
  }

  public static void assertAnswer(Answer answer, int status, String body) {
    assertEquals(body, answer.body());
    assertEquals(status, answer.status());
    assertEquals(Optional.of("application/json"), answer.header("Content-Type"));
  }

  public Optional<String> header(String name) {
    return headers.firstValue(name);
  }
}
