package org.plantstore.adapter.http.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.model.Request;
import com.atlassian.oai.validator.model.SimpleResponse;
import com.atlassian.oai.validator.report.ValidationReport;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.swagger.v3.core.util.Json;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The OpenAPI document of a running service, compared with its answers. Safe for use by many
 * threads.
 */
public final class ServedDocument {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final Map<String, ServedDocument> BY_SERVICE = new ConcurrentHashMap<>();
  private static final String PATH = "/plants";
  private static final int BAD_REQUEST = 400;

  /** Answers of other paths and methods, which a document of the paths that exist cannot have. */
  private static final Set<Integer> UNDOCUMENTED_STATUSES = Set.of(404, 405);

  /** Answers whose wording does not depend on the request, so that each has its example. */
  private static final Set<Integer> EXEMPLIFIED_STATUSES = Set.of(401, 500, 503);

  private final OpenApiInteractionValidator validator;
  private final Operation createPlant;

  private ServedDocument(String text) {
    this.validator =
        OpenApiInteractionValidator.createForInlineApiSpecification(text)
            .withBasePathOverride("/")
            .build();
    this.createPlant =
        requireNonNull(new OpenAPIV3Parser().readContents(text).getOpenAPI().getPaths().get(PATH))
            .getPost();
  }

  /** Returns the document of the service at an address. */
  public static ServedDocument of(URI service) {
    return BY_SERVICE.computeIfAbsent(
        service.getAuthority(), key -> new ServedDocument(fetch(service)));
  }

  /**
   * Requires that the document of the service has an answer as it was given.
   *
   * @throws AssertionError if it has not
   */
  public static <T extends HttpResponse<String>> T require(T response) {
    HttpRequest request = response.request();
    boolean isDocument = request.method().equals("GET") && response.statusCode() == 200;
    if (!request.method().equals("HEAD") && !isDocument) {
      of(request.uri())
          .requireDescribed(response.statusCode(), response.headers().map(), response.body());
    }
    return response;
  }

  /**
   * Requires that the document has an answer.
   *
   * @throws AssertionError if it has not
   */
  public void requireDescribed(int status, Map<String, List<String>> headers, String body) {
    SimpleResponse.Builder response =
        SimpleResponse.Builder.status(UNDOCUMENTED_STATUSES.contains(status) ? BAD_REQUEST : status)
            .withBody(body);
    headers.forEach((name, values) -> values.forEach(value -> response.withHeader(name, value)));
    ValidationReport report =
        validator.validateResponse(PATH, Request.Method.POST, response.build());
    require(report.getMessages().isEmpty(), status + " " + body + ": " + report.getMessages());
    if (status != 200) {
      TreeMap<String, List<String>> byName = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      byName.putAll(headers);
      String link = String.join(", ", byName.getOrDefault("Link", List.of()));
      int error = json(body).path("error").intValue();
      require(
          link.matches("<(?:\\.\\./)*errors#" + error + ">; rel=\"help\""),
          "error " + error + " links to " + link);
    }
    if (EXEMPLIFIED_STATUSES.contains(status)) {
      require(examplesOf(status).contains(json(body)), "no example of " + status + " is " + body);
    }
  }

  private List<JsonNode> examplesOf(int status) {
    ApiResponse response = requireNonNull(createPlant.getResponses().get(String.valueOf(status)));
    return requireNonNull(response.getContent().get("application/json"))
        .getExamples()
        .values()
        .stream()
        .map(example -> Json.mapper().<JsonNode>valueToTree(example.getValue()))
        .toList();
  }

  private static JsonNode json(String body) {
    try {
      return Json.mapper().readTree(body);
    } catch (JsonProcessingException e) {
      throw new AssertionError("no JSON: " + body, e);
    }
  }

  private static void require(boolean kept, String fault) {
    if (!kept) {
      throw new AssertionError(fault);
    }
  }

  private static String fetch(URI service) {
    try {
      return CLIENT
          .send(
              HttpRequest.newBuilder(service.resolve("/openapi.yaml")).build(),
              HttpResponse.BodyHandlers.ofString(UTF_8))
          .body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
