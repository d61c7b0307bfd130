package org.plantstore.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The examples of the served document, sent to the service that serves it. */
@NullUnmarked // a part of the document that is missing fails as it should
class ExamplesTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FERN = "{\"id\":1,\"name\":\"fern\",\"tag\":\"shade\"}";
  private static final int MAX_BODY_BYTES = 1_048_576;

  /** In the description of an example: the body whose answer it is. */
  private static final Pattern BODY = Pattern.compile("answer to `([\\[{].*)`");

  private static ServiceProcess service;
  private static JsonNode operation;

  @BeforeAll
  static void start() throws JsonProcessingException {
    service = ServiceProcess.shared();
    operation =
        JSON.readTree(service.get("/openapi.json", Map.of()).body()).at("/paths/~1plants/post");
  }

  @Test
  void every_exemplified_plant_is_created_as_exemplified() throws IOException {
    Map<String, JsonNode> requests = examples("/requestBody");
    Map<String, JsonNode> answers = examples("/responses/200");

    assertEquals(requests.keySet(), answers.keySet());
    for (String name : requests.keySet()) {
      String request = requests.get(name).get("value").toString();
      assertAnswer(200, answers.get(name), service.create(request));
    }
  }

  @Test
  void every_exemplified_refusal_is_answered_as_exemplified() throws IOException {
    assertEquals(200, service.create(FERN).statusCode());
    String tooLarge = FERN + " ".repeat(MAX_BODY_BYTES + 1 - FERN.length());
    Map<String, HttpResponse<String>> others =
        Map.of(
            "contentType", service.create(FERN, Map.of("Content-Type", "text/plain")),
            "contentEncoding", service.create(FERN, Map.of("Content-Encoding", "gzip")),
            "bodyTooLarge", service.create(tooLarge));
    Set<String> met = new HashSet<>(Set.of("malformedRequest"));

    Map<String, JsonNode> refusals = examples("/responses/400");
    for (String name : refusals.keySet()) {
      Matcher body = BODY.matcher(refusals.get(name).path("description").asText());
      HttpResponse<String> refused = body.find() ? service.create(body.group(1)) : others.get(name);
      if (refused != null) {
        assertAnswer(400, refusals.get(name), refused);
        met.add(name);
      }
    }

    assertEquals(refusals.keySet(), met);
    String raw = sendWithoutHost();
    assertEquals("HTTP/1.1 400 Bad Request", raw.lines().findFirst().orElseThrow());
    assertEquals(
        refusals.get("malformedRequest").get("value"),
        JSON.readTree(raw.substring(raw.indexOf("\r\n\r\n"))));
  }

  private static void assertAnswer(int status, JsonNode example, HttpResponse<String> answer)
      throws JsonProcessingException {
    assertEquals(example.get("value"), JSON.readTree(answer.body()));
    assertEquals(status, answer.statusCode());
  }

  private static String sendWithoutHost() throws IOException {
    try (Socket socket = new Socket("localhost", service.port)) {
      socket.getOutputStream().write("POST /plants HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), US_ASCII);
    }
  }

  private static Map<String, JsonNode> examples(String part) {
    return operation.at(part + "/content/application~1json/examples").properties().stream()
        .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
