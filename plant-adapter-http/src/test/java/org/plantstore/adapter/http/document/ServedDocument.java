package org.plantstore.adapter.http.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.model.Request;
import com.atlassian.oai.validator.model.SimpleRequest;
import com.atlassian.oai.validator.model.SimpleResponse;
import com.atlassian.oai.validator.report.ValidationReport;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.swagger.v3.core.util.Json;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.io.ByteArrayOutputStream;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.adapter.JdkFlowAdapter;

/**
 * The OpenAPI document of a running service, held against what the service does. Safe for use by
 * many threads.
 */
public final class ServedDocument {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final Map<String, String> TEXTS = new ConcurrentHashMap<>();
  private static final Map<String, ServedDocument> DOCUMENTS = new ConcurrentHashMap<>();

  /** Its reader gives up at numbers of more than 1,000 digits, which the service skips. */
  private static final String LIMIT_OF_THE_VALIDATOR = "StreamReadConstraints";

  private static final String PATH = "/plants";
  private static final int BAD_REQUEST = 400;

  /** Answers of other paths and methods, which a document of the paths that exist cannot have. */
  private static final Set<Integer> UNDOCUMENTED_STATUSES = Set.of(404, 405);

  /** Answers whose wording does not depend on the request, so that each has its example. */
  private static final Set<Integer> EXEMPLIFIED_STATUSES = Set.of(401, 500, 503);

  /** Refusals that a schema can foresee, unless the body has {@link #NOT_IN_A_SCHEMA}. */
  private static final Set<Integer> FORESEEABLE_ERRORS = Set.of(1002, 2001, 2002, 2003);

  /** An unpaired surrogate, and an integer that is written as another number. */
  private static final Pattern NOT_IN_A_SCHEMA =
      Pattern.compile("\\\\u[dD][89a-fA-F]|\\d(\\.0+)?[eE]|\\d\\.0");

  private static final Pattern HELP =
      Pattern.compile("<(?:\\.\\./)*errors#(\\d{4})>; rel=\"help\"");

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

  /** Asks the service at an address for its document. */
  public static ServedDocument of(URI service) {
    String text = TEXTS.computeIfAbsent(service.getAuthority(), key -> fetch(service));
    return DOCUMENTS.computeIfAbsent(text, ServedDocument::new);
  }

  /**
   * Requires that the document has an answer as it was given, and that a request that was served is
   * one of the document's.
   *
   * @throws AssertionError if the document says otherwise
   */
  public static <T extends HttpResponse<String>> T require(T response) {
    HttpRequest request = response.request();
    boolean servesDocument = request.method().equals("GET") && response.statusCode() == 200;
    if (!request.method().equals("HEAD") && !servesDocument) {
      of(request.uri()).requireDescribed(response);
    }
    return response;
  }

  private void requireDescribed(HttpResponse<String> response) {
    requireDescribed(response.statusCode(), response.headers().map(), response.body());
    HttpRequest request = response.request();
    if (response.statusCode() == 200) {
      requireNone(validator.validateRequest(documented(request)), "the request");
    } else if (FORESEEABLE_ERRORS.contains(errorOf(response.body()))
        && !NOT_IN_A_SCHEMA.matcher(contentOf(request)).find()) {
      require(
          validator.validateRequest(documented(request)).hasErrors(),
          "the document allows " + contentOf(request));
    }
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
    requireNone(
        validator.validateResponse(PATH, Request.Method.POST, response.build()),
        "the answer " + status + " " + body);
    if (status != 200) {
      requireHelp(headers, errorOf(body));
    }
    if (EXEMPLIFIED_STATUSES.contains(status)) {
      require(examplesOf(status).contains(json(body)), "no example of " + status + " is " + body);
    }
  }

  private static void requireHelp(Map<String, List<String>> headers, int error) {
    TreeMap<String, List<String>> byName = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    byName.putAll(headers);
    String link = String.join(", ", byName.getOrDefault("Link", List.of()));
    Matcher help = HELP.matcher(link);
    require(
        help.matches() && help.group(1).equals(String.valueOf(error)),
        "error " + error + " links to " + link);
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

  private static int errorOf(String body) {
    return json(body).path("error").intValue();
  }

  private static JsonNode json(String body) {
    try {
      return Json.mapper().readTree(body);
    } catch (JsonProcessingException e) {
      throw new AssertionError("no JSON: " + body, e);
    }
  }

  private static void requireNone(ValidationReport report, String what) {
    List<String> faults =
        report.getMessages().stream()
            .map(ValidationReport.Message::getMessage)
            .filter(fault -> !fault.contains(LIMIT_OF_THE_VALIDATOR))
            .toList();
    require(faults.isEmpty(), what + " is not as documented: " + faults);
  }

  private static void require(boolean kept, String fault) {
    if (!kept) {
      throw new AssertionError(fault);
    }
  }

  /** Without what an OpenAPI document cannot say, or this validator cannot read. */
  private static Request documented(HttpRequest request) {
    SimpleRequest.Builder documented =
        SimpleRequest.Builder.post(PATH).withBody(contentOf(request));
    request
        .headers()
        .map()
        .forEach((name, values) -> {
          if (name.equalsIgnoreCase("Content-Type")) {
            // Empty parameters are allowed (RFC 9110, section 5.6.6).
            documented.withHeader(
                name, values.stream().map(type -> type.replaceAll(";(?=;)", "")).toList());
          } else if (!name.equalsIgnoreCase("Accept")) {
            documented.withHeader(name, values);
          }
        });
    return documented.build();
  }

  private static String contentOf(HttpRequest request) {
    return request.bodyPublisher().map(ServedDocument::content).orElse("");
  }

  private static String content(HttpRequest.BodyPublisher publisher) {
    return JdkFlowAdapter.flowPublisherToFlux(publisher)
        .map(part -> {
          byte[] bytes = new byte[part.remaining()];
          part.get(bytes);
          return bytes;
        })
        .collect(ByteArrayOutputStream::new, ByteArrayOutputStream::writeBytes)
        .map(content -> content.toString(UTF_8))
        .blockOptional()
        .orElseThrow();
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
