package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.model.Request;
import com.atlassian.oai.validator.model.SimpleRequest;
import com.atlassian.oai.validator.model.SimpleResponse;
import com.atlassian.oai.validator.report.ValidationReport;
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
import java.util.concurrent.ConcurrentHashMap;
import reactor.adapter.JdkFlowAdapter;

/**
 * The OpenAPI document of a running service, held against what the service does. Safe for use by
 * many threads.
 */
final class ServedDocument {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final Map<String, String> TEXTS = new ConcurrentHashMap<>();
  private static final Map<String, ServedDocument> DOCUMENTS = new ConcurrentHashMap<>();

  /** Its reader gives up at numbers of more than 1,000 digits, which the service skips. */
  private static final String LIMIT_OF_THE_VALIDATOR = "StreamReadConstraints";

  private static final String PATH = "/plants";
  private static final int BAD_REQUEST = 400;

  /** Answers of other paths and methods, which a document of the paths that exist cannot have. */
  private static final Set<Integer> UNDOCUMENTED_STATUSES = Set.of(404, 405);

  private final OpenApiInteractionValidator validator;

  private ServedDocument(String text) {
    this.validator =
        OpenApiInteractionValidator.createForInlineApiSpecification(text)
            .withBasePathOverride("/")
            .build();
  }

  /** Asks the service at an address for its document. */
  static ServedDocument of(URI service) {
    String text = TEXTS.computeIfAbsent(service.getAuthority(), key -> fetch(service));
    return DOCUMENTS.computeIfAbsent(text, ServedDocument::new);
  }

  /**
   * Requires that the document has an answer as it was given, and that a request that was served is
   * one of the document's.
   *
   * @throws AssertionError if the document says otherwise
   */
  static <T extends HttpResponse<String>> T require(T response) {
    HttpRequest request = response.request();
    if (!request.method().equals("HEAD")) {
      of(request.uri()).requireDescribed(response);
    }
    return response;
  }

  private void requireDescribed(HttpResponse<String> response) {
    requireDescribed(response.statusCode(), response.headers().map(), response.body());
    if (response.statusCode() == 200) {
      requireNone(validator.validateRequest(documented(response.request())), "the request");
    }
  }

  /**
   * Requires that the document has an answer.
   *
   * @throws AssertionError if it has not
   */
  void requireDescribed(int status, Map<String, ? extends Iterable<String>> headers, String body) {
    SimpleResponse.Builder response =
        SimpleResponse.Builder.status(UNDOCUMENTED_STATUSES.contains(status) ? BAD_REQUEST : status)
            .withBody(body);
    headers.forEach((name, values) -> values.forEach(value -> response.withHeader(name, value)));
    requireNone(
        validator.validateResponse(PATH, Request.Method.POST, response.build()),
        "the answer " + status + " " + body);
  }

  private static void requireNone(ValidationReport report, String what) {
    List<ValidationReport.Message> faults =
        report.getMessages().stream()
            .filter(message -> !message.getMessage().contains(LIMIT_OF_THE_VALIDATOR))
            .toList();
    if (!faults.isEmpty()) {
      throw new AssertionError(what + " is not as documented: " + faults);
    }
  }

  /** Without what an OpenAPI document cannot say, or this validator cannot read. */
  private static Request documented(HttpRequest request) {
    SimpleRequest.Builder documented =
        SimpleRequest.Builder.post(PATH)
            .withBody(request.bodyPublisher().map(ServedDocument::content).orElse(""));
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
