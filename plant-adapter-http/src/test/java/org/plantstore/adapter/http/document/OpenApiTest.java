package org.plantstore.adapter.http.document;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.atlassian.oai.validator.model.SimpleRequest;
import com.atlassian.oai.validator.report.ValidationReport;
import com.fasterxml.jackson.databind.JsonNode;
import io.swagger.v3.core.util.Json;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem.HttpMethod;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.security.SecurityRequirement;
import io.swagger.v3.oas.models.security.SecurityScheme;
import io.swagger.v3.oas.models.servers.Server;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.net.http.HttpHeaders;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorLink;
import org.plantstore.adapter.http.error.ErrorNumber;

/** The document says what the contract says, and what the catalogue says. */
@NullUnmarked // a part of the document that is missing fails as it should
class OpenApiTest {

  private static final Pattern ERROR =
      Pattern.compile("(?s)- \\[(\\d{4})]\\(errors#\\1\\): (.*?)\\s*(?=\n- |\n\n|$)");

  private static final OpenAPI DOCUMENT =
      new OpenAPIV3Parser().readContents(OpenApiDocument.TEXT).getOpenAPI();
  private static final Operation CREATE_PLANT = DOCUMENT.getPaths().get("/plants").getPost();

  // The contract

  @Test
  void only_operation_is_create_plant() {
    assertEquals("1.0.0", DOCUMENT.getInfo().getVersion());
    assertEquals(Set.of("/plants"), DOCUMENT.getPaths().keySet());
    assertEquals(
        Set.of(HttpMethod.POST), DOCUMENT.getPaths().get("/plants").readOperationsMap().keySet());
    assertNull(CREATE_PLANT.getParameters());
    assertNull(DOCUMENT.getPaths().get("/plants").getParameters());
  }

  @Test
  void operation_takes_a_new_plant_and_answers_a_plant_or_an_error() {
    assertEquals(true, CREATE_PLANT.getRequestBody().getRequired());
    assertEquals("NewPlant", schemaOf(CREATE_PLANT.getRequestBody().getContent()));
    assertEquals(Set.of("200", "400", "401", "500", "503"), CREATE_PLANT.getResponses().keySet());
    assertEquals("Plant", schemaOf(answer("200")));
    for (String status : List.of("400", "401", "500", "503")) {
      assertEquals("Error", schemaOf(answer(status)));
    }
  }

  @Test
  void whole_interface_is_secured_by_a_bearer_token() {
    assertEquals(List.of(new SecurityRequirement().addList("bearerAuth")), DOCUMENT.getSecurity());
    assertNull(CREATE_PLANT.getSecurity());
    Map<String, SecurityScheme> schemes = DOCUMENT.getComponents().getSecuritySchemes();
    assertEquals(Set.of("bearerAuth"), schemes.keySet());
    assertEquals(SecurityScheme.Type.HTTP, schemes.get("bearerAuth").getType());
    assertEquals("bearer", schemes.get("bearerAuth").getScheme());
  }

  @Test
  void schemas_have_the_fields_of_the_contract() {
    assertEquals(
        Set.of("Plant", "NewPlant", "Error"), DOCUMENT.getComponents().getSchemas().keySet());
    assertFields("Plant", Map.of("name", "string", "tag", "string"), Set.of("name"));
    assertFields(
        "NewPlant",
        Map.of("id", "integer int64", "name", "string", "tag", "string"),
        Set.of("id", "name"));
    assertFields(
        "Error", Map.of("error", "integer int32", "message", "string"), Set.of("error", "message"));
  }

  // What is added to it

  @Test
  void operation_says_what_clients_rely_on() {
    assertEquals("createPlant", CREATE_PLANT.getOperationId());
    assertEquals(List.of("."), DOCUMENT.getServers().stream().map(Server::getUrl).toList());
    String description = CREATE_PLANT.getDescription();
    assertTrue(description.contains("**Safe to retry.**"), description);
    assertTrue(
        description.contains(String.format(Locale.ROOT, "at most %,d bytes", 1_048_576)),
        description);
  }

  @Test
  void headers_are_exemplified_as_they_are_sent() {
    assertEquals(
        "Bearer realm=\"plants\", error=\"invalid_token\"",
        header("401", "WWW-Authenticate").getExample());
    assertEquals(1, header("503", "Retry-After").getExample());
    assertEquals(
        ErrorLink.to(ErrorNumber.ID_TAKEN, "/plants"),
        DOCUMENT.getComponents().getHeaders().get("Link").getExample());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          true  | {"id":1,"name":"fern","tag":"shade"}
          true  | {"id":-9223372036854775808,"name":"","tag":""}
          true  | {"id":0,"name":"fern","tag":null}
          false | []
          false | {}
          false | {"name":"fern"}
          false | {"id":1}
          false | {"id":"1","name":"fern"}
          false | {"id":1.5,"name":"fern"}
          false | {"id":9223372036854775808,"name":"fern"}
          false | {"id":null,"name":"fern"}
          false | {"id":1,"name":null}
          false | {"id":1,"name":7}
          false | {"id":1,"name":"\\u0000"}
          false | {"id":1,"name":"fern","tag":7}
          false | {"id":1,"name":"fern","tag":"\\u0000"}
          """)
  void schema_allows_what_is_read_and_nothing_else(boolean isPlant, String body) {
    SimpleRequest request =
        SimpleRequest.Builder.post("/plants")
            .withHeader("Authorization", "Bearer token")
            .withHeader("Content-Type", "application/json")
            .withBody(body)
            .build();

    ValidationReport report = OpenApiDocument.VALIDATOR.validateRequest(request);

    assertEquals(isPlant, !report.hasErrors(), () -> body + ": " + report.getMessages());
  }

  /** The check that the answers of all other tests pass through can fail. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          200 | {"name":"fern"}                     |              |
          400 | {"error":1001,"message":""}         |              |
          418 | {"error":1001,"message":""}         |              | 418
          200 | {"name":7}                          |              | name
          200 | {"name":"fern","tag":null}          |              | tag
          200 | {"tag":"shade"}                     |              | name
          200 | {"name":"fern"}                     | X-Request-Id | input string "text/plain"
          200 | {"name":"fern"}                     | Content-Type | Content-Type
          400 | {"error":2147483648,"message":""}   |              | error
          400 | {"error":1001}                      |              | message
          404 | {"message":""}                      |              | error
          400 | {"error":1002,"message":""}         |              | links to
          400 | {"error":1001,"message":""}         | Link         | input string "text/plain"
          401 | {"error":1001,"message":""}         |              | WWW-Authenticate
          503 | {"error":1001,"message":""}         |              | Retry-After
          """)
  void answer_that_is_not_described_is_noticed(
      int status, String body, String replaced, String fault) {
    Map<String, List<String>> headers = new HashMap<>();
    headers.put("Content-Type", List.of("application/json"));
    headers.put("Link", List.of("<errors#1001>; rel=\"help\""));
    headers.put("X-Request-Id", List.of("a"));
    headers.replace(replaced, List.of("text/plain"));
    Executable check =
        () ->
            OpenApiDocument.requireDescribed(
                status, HttpHeaders.of(headers, (name, value) -> true), body);

    if (fault == null) {
      assertDoesNotThrow(check);
    } else {
      String message = assertThrows(AssertionError.class, check).getMessage();
      assertTrue(message.contains(fault), message);
    }
  }

  // The catalogue

  @ParameterizedTest
  @ValueSource(strings = {"400", "401", "500", "503"})
  void response_describes_and_exemplifies_the_errors_of_its_status(String status) {
    Map<Integer, String> errors = catalogue(Set.of(status));
    Map<Integer, String> examples = examplesOf(answer(status));

    assertEquals(errors, errorsIn(CREATE_PLANT.getResponses().get(status).getDescription()));
    assertEquals(errors.keySet(), examples.keySet());
    // Those of 400 say more than the catalogue: the tests of the whole service send them.
    if (!status.equals("400")) {
      assertEquals(errors, examples);
    }
  }

  @Test
  void errors_of_other_paths_and_methods_are_described_with_the_interface() {
    assertEquals(catalogue(Set.of("404", "405")), errorsIn(DOCUMENT.getInfo().getDescription()));
  }

  private static Map<Integer, String> catalogue(Set<String> statuses) {
    return Arrays.stream(ErrorNumber.values())
        .filter(error -> statuses.contains(String.valueOf(error.status().getCode())))
        .collect(toMap(ErrorNumber::number, ErrorNumber::description));
  }

  private static Map<Integer, String> errorsIn(String description) {
    return ERROR
        .matcher(description)
        .results()
        .collect(
            toMap(
                error -> Integer.valueOf(error.group(1)),
                error -> error.group(2).replaceAll("\\s+", " "),
                (first, second) -> first + second,
                TreeMap::new));
  }

  private static Map<Integer, String> examplesOf(Content content) {
    return content.get("application/json").getExamples().values().stream()
        .map(example -> Json.mapper().<JsonNode>valueToTree(example.getValue()))
        .collect(
            toMap(
                error -> error.get("error").intValue(),
                error -> error.get("message").textValue(),
                (first, second) -> first));
  }

  private static void assertFields(
      String name, Map<String, String> typesByField, Set<String> required) {
    Schema<?> schema = DOCUMENT.getComponents().getSchemas().get(name);
    assertEquals("object", schema.getType());
    assertEquals(required, Set.copyOf(schema.getRequired()));
    assertEquals(typesByField.keySet(), schema.getProperties().keySet());
    typesByField.forEach((field, type) -> {
      Schema<?> property = schema.getProperties().get(field);
      assertEquals(
          type, (property.getType() + " " + Objects.toString(property.getFormat(), "")).strip());
      assertTrue(property.getDescription().length() > 10, field + " is described");
    });
  }

  private static Header header(String status, String name) {
    return CREATE_PLANT.getResponses().get(status).getHeaders().get(name);
  }

  private static Content answer(String status) {
    return CREATE_PLANT.getResponses().get(status).getContent();
  }

  private static String schemaOf(Content content) {
    assertEquals(Set.of("application/json"), content.keySet());
    MediaType json = content.get("application/json");
    return json.getSchema().get$ref().substring("#/components/schemas/".length());
  }
}
