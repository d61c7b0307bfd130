package org.plantstore.adapter.http.document;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.atlassian.oai.validator.model.SimpleRequest;
import com.atlassian.oai.validator.report.ValidationReport;
import com.fasterxml.jackson.databind.JsonNode;
import io.swagger.v3.core.util.Json;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.yaml.snakeyaml.Yaml;

/** The document agrees with the contract and, like the README, with the catalogue of errors. */
@NullUnmarked // a part of the document that is missing fails as it should
class OpenApiTest {

  private static final Pattern ERROR =
      Pattern.compile("(?s)- \\[(\\d{4})]\\(errors#\\1\\): (.*?)\\s*(?=\n- |\n\n|$)");

  private static final String CREATE_PLANT = "/paths/~1plants/post/";
  private static final JsonNode DOCUMENT =
      Json.mapper().valueToTree(new Yaml().load(OpenApiDocument.TEXT));

  /** Of an object the names of its members are compared. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /info/version                                 | "1.0.0"
          /paths                                        | /plants
          /paths/~1plants                               | post
          /paths/~1plants/post                          | operationId tags summary description requestBody responses
          /paths/~1plants/post/operationId              | "createPlant"
          /paths/~1plants/post/requestBody/required     | true
          /paths/~1plants/post/responses                | 200 400 401 500 503
          /security                                     | [{"bearerAuth":[]}]
          /components/securitySchemes                   | bearerAuth
          /components/securitySchemes/bearerAuth/type   | "http"
          /components/securitySchemes/bearerAuth/scheme | "bearer"
          /components/schemas                           | Plant NewPlant Error
          /servers/0/url                                | "{address}"
          /servers/0/variables/address/default          | "http://localhost:8080"
          /servers/1/url                                | "."
          /paths/~1plants/post/responses/401/headers/WWW-Authenticate/example | "Bearer realm=\\"plants\\", error=\\"invalid_token\\""
          /paths/~1plants/post/responses/503/headers/Retry-After/example | 1
          /components/headers/Link/example              | "<errors#3001>; rel=\\"help\\""
          """)
  void only_operation_is_create_plant_for_a_caller_with_a_token(String pointer, String expected) {
    JsonNode part = DOCUMENT.at(pointer);
    String names = part.properties().stream().map(Map.Entry::getKey).collect(joining(" "));
    assertEquals(expected, part.isObject() ? names : part.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "requestBody, NewPlant", "responses/200, Plant", "responses/400, Error",
    "responses/401, Error", "responses/500, Error", "responses/503, Error"
  })
  void body_is_json_of_one_schema(String part, String schema) {
    JsonNode content = DOCUMENT.at(CREATE_PLANT + part + "/content");
    assertEquals(1, content.size());
    assertEquals(
        "#/components/schemas/" + schema, content.at("/application~1json/schema/$ref").textValue());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Plant    | ["name"]            | name string, tag string
          NewPlant | ["id","name"]       | id integer int64, name string, tag string
          Error    | ["error","message"] | error integer int32, message string
          """)
  void schema_has_the_fields_of_the_contract(String name, String required, String fields) {
    JsonNode schema = DOCUMENT.at("/components/schemas/" + name);
    StringJoiner described = new StringJoiner(", ");
    for (Map.Entry<String, JsonNode> field : schema.get("properties").properties()) {
      JsonNode type = field.getValue();
      assertTrue(type.get("description").textValue().length() > 10, field + " is described");
      String format = type.has("format") ? " " + type.get("format").textValue() : "";
      described.add(field.getKey() + " " + type.get("type").textValue() + format);
    }
    assertEquals("\"object\"", schema.get("type").toString());
    assertEquals(required, schema.get("required").toString());
    assertEquals(fields, described.toString());
  }

  @Test
  void operation_says_what_clients_rely_on() {
    String description = DOCUMENT.at(CREATE_PLANT + "description").textValue();
    assertTrue(description.contains("**Safe to retry.**"), description);
    assertTrue(
        description.contains(String.format(Locale.ROOT, "at most %,d bytes", 1_048_576)),
        description);
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
          200 | {"name":"fern","tag":null}          |              | tag
          200 | {"tag":"shade"}                     |              | name
          200 | {"name":"fern"}                     | X-Request-Id | input string "text/plain"
          200 | {"name":"fern"}                     | Content-Type | Content-Type
          400 | {"error":1001}                      |              | message
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

  @ParameterizedTest
  @ValueSource(strings = {"400", "401", "500", "503"})
  void response_describes_and_exemplifies_the_errors_of_its_status(String status) {
    Map<Integer, String> errors = catalogue(Set.of(status));
    JsonNode response = DOCUMENT.at(CREATE_PLANT + "responses/" + status);
    Map<Integer, String> examples = new HashMap<>();
    for (JsonNode example : response.at("/content/application~1json/examples")) {
      JsonNode error = example.get("value");
      examples.put(error.get("error").intValue(), error.get("message").textValue());
    }

    assertEquals(errors, errorsIn(response));
    assertEquals(errors.keySet(), examples.keySet());
    // Those of 400 say more than the catalogue: the tests of the whole service send them.
    if (!status.equals("400")) {
      assertEquals(errors, examples);
    }
  }

  @Test
  void errors_of_other_paths_and_methods_are_described_with_the_interface() {
    assertEquals(catalogue(Set.of("404", "405")), errorsIn(DOCUMENT.get("info")));
  }

  @Test
  void readme_lists_every_error_and_no_other_and_none_has_the_number_of_another()
      throws IOException {
    List<String> documented =
        Files.readAllLines(Path.of("..", "README.md")).stream()
            .filter(line -> line.matches("\\| \\d{4} \\|.*"))
            .toList();

    assertEquals(
        Arrays.stream(ErrorNumber.values())
            .map(error ->
                String.format(
                    Locale.ROOT,
                    "| %d | %d | %s |",
                    error.number(),
                    error.status().getCode(),
                    error.description()))
            .toList(),
        documented);
    List<Integer> numbers = Arrays.stream(ErrorNumber.values()).map(ErrorNumber::number).toList();
    assertEquals(numbers.stream().sorted().distinct().toList(), numbers);
  }

  private static Map<Integer, String> catalogue(Set<String> statuses) {
    return Arrays.stream(ErrorNumber.values())
        .filter(error -> statuses.contains(String.valueOf(error.status().getCode())))
        .collect(toMap(ErrorNumber::number, ErrorNumber::description));
  }

  private static Map<Integer, String> errorsIn(JsonNode described) {
    return ERROR
        .matcher(described.get("description").textValue())
        .results()
        .collect(
            toMap(
                error -> Integer.valueOf(error.group(1)),
                error -> error.group(2).replaceAll("\\s+", " ")));
  }
}
