package org.plantstore.adapter.http.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.model.Request;
import com.atlassian.oai.validator.model.SimpleResponse;
import com.atlassian.oai.validator.report.ValidationReport;
import java.net.http.HttpHeaders;

/** The OpenAPI document, with which {@code Answer} compares answers. */
public final class OpenApiDocument {

  static final String TEXT =
      assertDoesNotThrow(() ->
          new String(
              requireNonNull(OpenApiDocument.class.getResourceAsStream("openapi.yaml"))
                  .readAllBytes(),
              UTF_8));
  private static final OpenApiInteractionValidator VALIDATOR =
      OpenApiInteractionValidator.createForInlineApiSpecification(TEXT)
          .withBasePathOverride("/")
          .build();

  private OpenApiDocument() {}

  /** Requires that an answer is described, 404 and 405 as 400, and that an error has its link. */
  public static void requireDescribed(int status, HttpHeaders headers, String body) {
    SimpleResponse.Builder response =
        SimpleResponse.Builder.status(status == 404 || status == 405 ? 400 : status).withBody(body);
    headers
        .map()
        .forEach((name, values) -> values.forEach(value -> response.withHeader(name, value)));
    ValidationReport report =
        VALIDATOR.validateResponse("/plants", Request.Method.POST, response.build());
    assertTrue(
        report.getMessages().isEmpty(), () -> status + " " + body + ": " + report.getMessages());
    if (status != 200) {
      String link = String.join(", ", headers.allValues("Link"));
      String error = link.replaceFirst("^<(?:\\.\\./)*errors#(\\d+)>; rel=\"help\"$", "$1");
      assertTrue(body.startsWith("{\"error\":" + error + ","), () -> body + " links to " + link);
    }
  }
}
