package org.plantstore.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.app.EmbeddedDatabase.execute;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.examples.Example;
import io.swagger.v3.oas.models.media.Content;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the served document exemplifies, sent to the service that serves it. */
@Timeout(120)
@NullUnmarked // a part of the document that is missing fails as it should
class ExamplesTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FERN = "{\"id\":1,\"name\":\"fern\",\"tag\":\"shade\"}";
  private static final int MAX_BODY_BYTES = 1_048_576;

  /** In the description of an example: the body whose answer it is. */
  private static final Pattern BODY = Pattern.compile("answer to `([\\[{].*)`");

  @RegisterExtension static final RunningService RUNNING = new RunningService();

  @Test
  void every_exemplified_plant_is_created_as_exemplified() throws IOException {
    Map<String, Example> requests = examples(createPlant().getRequestBody().getContent());
    Map<String, Example> answers = examples(answer("200"));

    assertEquals(requests.keySet(), answers.keySet());
    for (String name : requests.keySet()) {
      HttpResponse<String> created = RUNNING.service().create(textOf(requests.get(name)));
      assertAnswer(200, answers.get(name), created);
    }
  }

  @Test
  void every_exemplified_refusal_is_answered_as_exemplified() throws IOException {
    assertEquals(200, RUNNING.service().create(FERN).statusCode());
    Map<String, HttpResponse<String>> others = new HashMap<>();
    others.put(
        "contentType", RUNNING.service().create(FERN, headers("Content-Type", "text/plain")));
    others.put(
        "contentEncoding", RUNNING.service().create(FERN, headers("Content-Encoding", "gzip")));
    others.put(
        "bodyTooLarge",
        RUNNING.service().create(FERN + " ".repeat(MAX_BODY_BYTES + 1 - FERN.length())));
    Set<String> met = new HashSet<>(Set.of("malformedRequest"));

    Map<String, Example> refusals = examples(answer("400"));
    for (String name : refusals.keySet()) {
      Matcher body = BODY.matcher(String.valueOf(refusals.get(name).getDescription()));
      HttpResponse<String> refused =
          body.find() ? RUNNING.service().create(body.group(1)) : others.get(name);
      if (refused != null) {
        assertAnswer(400, refusals.get(name), refused);
        met.add(name);
      }
    }

    assertEquals(refusals.keySet(), met);
    String raw = sendWithoutHost();
    assertEquals("HTTP/1.1 400 Bad Request", raw.lines().findFirst().orElseThrow());
    assertEquals(
        JSON.readTree(textOf(refusals.get("malformedRequest"))),
        JSON.readTree(raw.substring(raw.indexOf("\r\n\r\n"))));
  }

  @Test
  void every_exemplified_caller_is_refused_as_exemplified() throws IOException {
    Map<String, HttpResponse<String>> refused =
        Map.of(
            "noToken", RUNNING.service().create(FERN, Map.of("Content-Type", "application/json")),
            "invalidToken",
                RUNNING.service().create(FERN, headers("Authorization", "Bearer a.b.c")));

    Map<String, Example> examples = examples(answer("401"));
    assertEquals(examples.keySet(), refused.keySet());
    for (String name : examples.keySet()) {
      assertAnswer(401, examples.get(name), refused.get(name));
    }
  }

  @Test
  void every_exemplified_failure_is_answered_as_exemplified() throws IOException, SQLException {
    Map<String, Example> failures = new HashMap<>(examples(answer("500")));
    failures.putAll(examples(answer("503")));
    assertEquals(
        Set.of("internal", "overloaded", "storeUnavailable", "keysUnavailable"), failures.keySet());
    EmbeddedPostgres other = EmbeddedDatabase.start();
    Map<String, String> environment = EmbeddedDatabase.environment(other);
    environment.put("MAX_CONCURRENT_CREATES", "1");
    try (ServiceProcess alone = new ServiceProcess(environment).awaitReady()) {
      assertAnswer(503, failures.get("overloaded"), createWhileAnotherWaits(alone, other));
      execute(other, "DROP TABLE plant");
      assertAnswer(500, failures.get("internal"), alone.create(FERN));
      other.close();
      assertAnswer(503, failures.get("storeUnavailable"), alone.create(FERN));
    } finally {
      other.close();
    }
  }

  @Test
  void exemplified_absence_of_the_provider_is_answered_as_exemplified() throws IOException {
    try (EmbeddedPostgres other = EmbeddedDatabase.start()) {
      Map<String, String> environment = EmbeddedDatabase.environment(other);
      environment.remove("JWT_SECRET");
      environment.put("JWT_JWKS_URL", "http://localhost:1/keys");
      try (ServiceProcess alone = new ServiceProcess(environment).awaitReady()) {
        String token =
            base64("{\"alg\":\"RS256\",\"kid\":\"unknown\"}") + "." + base64("{}") + ".AA";
        assertAnswer(
            503,
            examples(answer("503")).get("keysUnavailable"),
            alone.create(FERN, headers("Authorization", "Bearer " + token)));
      }
    }
  }

  /** Answers what a create gets while another one, which is served later, holds the only place. */
  private static HttpResponse<String> createWhileAnotherWaits(
      ServiceProcess service, EmbeddedPostgres database) throws SQLException {
    service.document();
    CompletableFuture<HttpResponse<String>> waiting;
    HttpResponse<String> beyond;
    try (Connection locker = database.getPostgresDatabase().getConnection();
        Statement statement = locker.createStatement()) {
      locker.setAutoCommit(false);
      statement.execute("LOCK TABLE plant");
      waiting = CompletableFuture.supplyAsync(() -> service.create(FERN));
      EmbeddedDatabase.awaitWhoWaitsForALock(statement);
      beyond = service.create(FERN);
      locker.rollback();
    }
    assertEquals(200, waiting.join().statusCode());
    return beyond;
  }

  private static String base64(String text) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(US_ASCII));
  }

  private static void assertAnswer(int status, Example example, HttpResponse<String> answer)
      throws JsonProcessingException {
    assertEquals(JSON.readTree(textOf(example)), JSON.readTree(answer.body()));
    assertEquals(status, answer.statusCode());
  }

  private static Map<String, String> headers(String name, String value) {
    Map<String, String> headers = new HashMap<>();
    headers.put("Authorization", "Bearer " + ServiceProcess.token());
    headers.put("Content-Type", "application/json");
    headers.put(name, value);
    return headers;
  }

  private static String sendWithoutHost() throws IOException {
    try (Socket socket = new Socket("localhost", RUNNING.service().address().getPort())) {
      socket.getOutputStream().write("POST /plants HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), US_ASCII);
    }
  }

  private static Operation createPlant() {
    return RUNNING.service().document().createPlant();
  }

  private static Content answer(String status) {
    return createPlant().getResponses().get(status).getContent();
  }

  private static Map<String, Example> examples(Content content) {
    return content.get("application/json").getExamples();
  }

  private static String textOf(Example example) throws JsonProcessingException {
    return JSON.writeValueAsString(example.getValue());
  }
}
