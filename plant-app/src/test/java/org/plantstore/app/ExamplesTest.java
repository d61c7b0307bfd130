package org.plantstore.app;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** The examples of the served document, sent to the service that serves it. */
@NullUnmarked // a missing part of the document fails the test
class ExamplesTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FERN = "{\"id\":1,\"name\":\"fern\",\"tag\":\"shade\"}";
  private static final int MAX_BODY_BYTES = 1_048_576;

  /** The request body in the description of an example. */
  private static final Pattern BODY = Pattern.compile("answer to `([\\[{].*)`");

  private final ServiceProcess service = ServiceProcess.shared();

  @Test
  void every_exemplified_plant_is_created_as_exemplified() throws JsonProcessingException {
    Map<String, JsonNode> requests = examples("/requestBody");
    Map<String, JsonNode> answers = examples("/responses/200");

    assertEquals(requests.keySet(), answers.keySet());
    for (String name : requests.keySet()) {
      String request = requests.get(name).get("value").toString();
      assertAnswer(200, answers.get(name), service.create(request));
    }
  }

  @Test
  void every_exemplified_refusal_is_answered_as_exemplified() throws JsonProcessingException {
    assertEquals(200, service.create(FERN).statusCode());
    String tooLarge = FERN + " ".repeat(MAX_BODY_BYTES + 1 - FERN.length());
    Map<String, String> tooManyHeaders =
        IntStream.rangeClosed(0, 100)
            .boxed()
            .collect(toMap(number -> "X-" + number, String::valueOf));
    Map<String, HttpResponse<String>> others =
        Map.of(
            "malformedRequest", service.get("/plants", tooManyHeaders),
            "contentType", service.create(FERN, Map.of("Content-Type", "text/plain")),
            "contentEncoding", service.create(FERN, Map.of("Content-Encoding", "gzip")),
            "bodyTooLarge", service.create(tooLarge));

    Map<String, JsonNode> refusals = examples("/responses/400");
    for (String name : refusals.keySet()) {
      Matcher body = BODY.matcher(refusals.get(name).path("description").asText());
      HttpResponse<String> refused = body.find() ? service.create(body.group(1)) : others.get(name);
      assertNotNull(refused, () -> "what leads to " + name);
      assertAnswer(400, refusals.get(name), refused);
    }
  }

  private static void assertAnswer(int status, JsonNode example, HttpResponse<String> answer)
      throws JsonProcessingException {
    assertEquals(example.get("value"), JSON.readTree(answer.body()));
    assertEquals(status, answer.statusCode());
  }

  private Map<String, JsonNode> examples(String part) throws JsonProcessingException {
    String place = "/paths/~1plants/post" + part + "/content/application~1json/examples";
    JsonNode document = JSON.readTree(service.get("/openapi.json", Map.of()).body());
    return document.at(place).properties().stream()
        .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
