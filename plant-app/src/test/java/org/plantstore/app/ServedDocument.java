package org.plantstore.app;

import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.model.SimpleRequest;
import com.atlassian.oai.validator.model.SimpleResponse;
import com.atlassian.oai.validator.report.ValidationReport;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.net.http.HttpResponse;
import java.util.Objects;

/** The OpenAPI document as a service serves it, held against what the service does. */
final class ServedDocument {

  private final String text;
  private final OpenApiInteractionValidator validator;

  ServedDocument(String text) {
    this.text = text;
    this.validator =
        OpenApiInteractionValidator.createForInlineApiSpecification(text)
            .withBasePathOverride("/")
            .build();
  }

  /** Requires that a create is answered as documented; one that is served is documented too. */
  void requireDescribed(String json, HttpResponse<String> response) {
    SimpleRequest.Builder request = SimpleRequest.Builder.post("/plants").withBody(json);
    response.request().headers().map().forEach(request::withHeader);
    SimpleResponse.Builder answer =
        SimpleResponse.Builder.status(response.statusCode()).withBody(response.body());
    response
        .headers()
        .map()
        .forEach((name, values) -> values.forEach(value -> answer.withHeader(name, value)));
    ValidationReport report =
        response.statusCode() == 200
            ? validator.validate(request.build(), answer.build())
            : validator.validateResponse("/plants", SimpleRequest.Method.POST, answer.build());
    if (!report.getMessages().isEmpty()) {
      throw new AssertionError(response + " is not as documented: " + report.getMessages());
    }
  }

  Operation createPlant() {
    return Objects.requireNonNull(
            new OpenAPIV3Parser().readContents(text).getOpenAPI().getPaths().get("/plants"))
        .getPost();
  }
}
