package org.plantstore.adapter.http.document;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.swagger.v3.core.util.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.yaml.snakeyaml.Yaml;

/**
 * Tests the documents that are served without a token. The OpenAPI document must agree with the
 * contract. The OpenAPI document, the README, and the error page must agree with the error catalog.
 */
@NullUnmarked // a missing part of the document makes the test fail, as intended
class OpenApiTest extends ServerTest {

  private static final Pattern ERROR =
      Pattern.compile("(?s)- \\[(\\d{4})]\\(errors#\\1\\): (.*?)\\s*(?=\n- |\n\n|$)");

  private static final String CREATE_PLANT = "/paths/~1plants/post/";
  private static final JsonNode DOCUMENT = yaml(Answer.DOCUMENT);

  /** If a part is an object, only the names of its members are compared. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /info/version                                 | "1.0.0"
          /paths                                        | /plants
          /paths/~1plants                               | post
          /paths/~1plants/post                          | operationId tags summary description requestBody responses
          /paths/~1plants/post/requestBody/required     | true
          /paths/~1plants/post/responses                | 200 400 401 403 500 503
          /security                                     | [{"bearerAuth":[]}]
          /components/securitySchemes/bearerAuth/type   | "http"
          /components/securitySchemes/bearerAuth/scheme | "bearer"
          /servers/0/url                                | "{address}"
          /servers/0/variables/address/default          | "http://localhost:8080"
          /servers/1/url                                | "."
          /paths/~1plants/post/responses/401/headers/WWW-Authenticate/required | true
          /paths/~1plants/post/responses/503/headers/Retry-After/required | true
          """)
  void creating_a_plant_is_the_only_operation_and_requires_a_token(
      String pointer, String expected) {
    JsonNode part = DOCUMENT.at(pointer);
    String names = part.properties().stream().map(Map.Entry::getKey).collect(joining(" "));
    assertEquals(expected, part.isObject() ? names : part.toString());
  }

  @Test
  void schemas_conform_to_the_contract_and_allow_every_accepted_plant() {
    JsonNode schemas = DOCUMENT.at("/components/schemas").deepCopy();
    for (JsonNode described : schemas.findParents("description")) {
      ((ObjectNode) described).remove(List.of("description", "example"));
    }

    assertEquals(
        yaml(
            """
            Plant:
              type: object
              required: [name]
              properties:
                name: {type: string, pattern: '^[^\\x00]*$'}
                tag: {type: string, pattern: '^[^\\x00]*$'}
            NewPlant:
              type: object
              required: [id, name]
              properties:
                id: {type: integer, format: int64}
                name: {type: string, pattern: '^[^\\x00]*$'}
                tag: {type: string, nullable: true, pattern: '^[^\\x00]*$'}
            Error:
              type: object
              required: [error, message]
              properties:
                error: {type: integer, format: int32}
                message: {type: string}
            """),
        schemas);
  }

  /** Fails if a rule for text exists only in the domain or only in the document. */
  @Test
  void domain_and_document_agree_on_which_text_is_valid() {
    JsonNode fields = DOCUMENT.at("/components/schemas/NewPlant/properties");
    Stream<String> lengths = IntStream.range(0, 2_000).mapToObj("x"::repeat);
    Stream<String> characters = IntStream.range(0, 0xD800).mapToObj(Character::toString);
    Stream<String> others = Stream.of("x".repeat(1 << 20), "fern\0", "\uD83C\uDF3F", " x", "x\n");
    Stream.of(lengths, characters, others)
        .flatMap(texts -> texts)
        .forEach(text -> {
          String size = " of " + text.length() + " characters";
          assertEquals(isDescribed(text, fields.get("name")), isValid(text, null), "name" + size);
          assertEquals(isDescribed(text, fields.get("tag")), isValid("fern", text), "tag" + size);
        });
  }

  private static boolean isDescribed(String text, JsonNode schema) {
    int length = text.codePointCount(0, text.length());
    return Pattern.compile(schema.path("pattern").asText("")).matcher(text).find()
        && length >= schema.path("minLength").asInt(0)
        && length <= schema.path("maxLength").asInt(Integer.MAX_VALUE);
  }

  private static boolean isValid(String name, @Nullable String tag) {
    try {
      return new NewPlant(1, name, tag).id() == 1;
    } catch (InvalidPlantException e) {
      return false;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"400", "401", "403", "500", "503"})
  void response_contains_a_description_and_an_example_of_each_error_of_its_status(String status) {
    Map<Integer, String> errors = errorsOf(Set.of(status));
    JsonNode response = DOCUMENT.at(CREATE_PLANT + "responses/" + status);
    Map<Integer, String> examples = new HashMap<>();
    for (JsonNode example : response.at("/content/application~1json/examples")) {
      JsonNode error = example.get("value");
      examples.put(error.get("error").intValue(), error.get("message").textValue());
    }

    assertEquals(errors, errorsIn(response));
    assertEquals(errors.keySet(), examples.keySet());
    // The examples for 400, 401, and 403 are more specific than the catalog. Other tests verify
    // these examples.
    if (!Set.of("400", "401", "403").contains(status)) {
      assertEquals(errors, examples);
    }
  }

  @Test
  void readme_lists_exactly_the_errors_of_the_catalog_and_their_numbers_are_unique()
      throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("README.md")).stream()
            .filter(line -> line.matches("\\| \\d{4} \\|.*"))
            .toList();

    assertEquals(catalog("| %1$d | %2$d | %4$s |"), rows);
    assertEquals(errorsOf(Set.of("404", "405", "OPTIONS")), errorsIn(DOCUMENT.get("info")));
    List<Integer> numbers = Arrays.stream(ErrorNumber.values()).map(ErrorNumber::number).toList();
    assertEquals(numbers.stream().sorted().distinct().toList(), numbers);
  }

  @ParameterizedTest
  @CsvSource({
    "/, text/html; charset=utf-8",
    "/errors, text/html; charset=utf-8",
    "/openapi.yaml, application/yaml",
    "/page/page.css, text/css; charset=utf-8",
    "/page/page.js, text/javascript; charset=utf-8",
    "/page/swagger-ui-bundle.js, text/javascript; charset=utf-8",
    "/page/swagger-ui-bundle.js.LICENSE.txt, text/plain; charset=utf-8"
  })
  void document_needs_no_valid_token_and_loads_content_only_from_this_service(
      String path, String type) {
    Answer answer = Answer.to(anonymous(path).header("Authorization", "Bearer a.b.c"));

    assertEquals(200, answer.status());
    assertEquals(Optional.of(type), answer.header("Content-Type"));
    assertTrue(answer.body().length() > 100, "the document is not empty");
    assertEquals(
        Optional.of(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
                + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        answer.header("Content-Security-Policy"));
    assertEquals(Optional.of("nosniff"), answer.header("X-Content-Type-Options"));
    assertEquals(Optional.of("no-referrer"), answer.header("Referrer-Policy"));
    assertEquals(Optional.of("max-age=600"), answer.header("Cache-Control"));
  }

  @Test
  void document_is_served_unchanged_and_other_paths_do_not_exist() {
    assertEquals(Answer.DOCUMENT, get("/openapi.yaml").body());
    for (String other : List.of("/page/", "/page/%2e%2e", "/errors/")) {
      assertEquals(404, Answer.to(authenticated(other)).status(), other);
    }
  }

  @Test
  void error_page_contains_exactly_the_errors_of_the_catalog_and_every_error_links_to_it() {
    Pattern entry =
        Pattern.compile(
            "<section id=\"(.*)\">\\s*<h2><a href=\"#\\1\">(\\1)</a> <small>(.*)</small></h2>\\s*"
                + "<p><strong>(.*)</strong></p>\\s*<dl>\\s*<dt>Cause</dt><dd>.+</dd>\\s*"
                + "<dt>What to do</dt><dd>.+</dd>\\s*</dl>\\s*</section>");
    assertEquals(
        catalog("%d, %d %s: %s"),
        entry
            .matcher(get("/errors").body())
            .results()
            .map(found -> found.group(2) + ", " + found.group(3) + ": " + found.group(4))
            .toList());
    for (String path : List.of("/plants", "/plants/", "/a/b/c?d=/e/")) {
      HttpRequest.Builder request = anonymous(path).POST(BodyPublishers.noBody());
      String link = Answer.to(request).header("Link").orElseThrow();
      URI help = request.build().uri().resolve(link.substring(1, link.indexOf('>')));
      assertEquals(server.getURI() + "/errors#4001", help.toString());
    }
  }

  private Answer get(String path) {
    return Answer.to(anonymous(path));
  }

  /** Formats each error's number, its status, the reason phrase, and the description. */
  private static List<String> catalog(String format) {
    return Arrays.stream(ErrorNumber.values())
        .map(error ->
            String.format(
                Locale.ROOT,
                format,
                error.number(),
                error.status().getCode(),
                error.status().getReason(),
                error.description()))
        .toList();
  }

  private static JsonNode yaml(String text) {
    return Json.mapper().valueToTree(new Yaml().load(text));
  }

  private static Map<Integer, String> errorsOf(Set<String> statuses) {
    return Arrays.stream(ErrorNumber.values())
        .filter(error ->
            statuses.contains(
                error == ErrorNumber.ORIGIN_NOT_ALLOWED
                    ? "OPTIONS" // a create request never receives this error
                    : String.valueOf(error.status().getCode())))
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
