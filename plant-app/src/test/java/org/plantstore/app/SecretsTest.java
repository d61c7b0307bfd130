package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.app.development.DevelopmentKey;

/** All secrets have a common part, which is searched for in the log and in the answers. */
@Tag("newest")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class SecretsTest {

  private static final Map<String, String> SETTINGS =
      Map.of(
          "DATABASE_PASSWORD", "canary-password",
          "ACCESS_LOG", "on",
          "DATABASE_TIMEOUT_SECONDS", "1");

  private static final String TRACE = "--logger.levels.root=TRACE";

  /** Details and hints of a database quote what it refuses. */
  private static final String REFUSING_TRIGGER =
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
          + " IF NEW.name = 'canary-refused' THEN RAISE EXCEPTION 'refused'"
          + " USING DETAIL = NEW.name, HINT = NEW.name; END IF; RETURN NEW; END $$;"
          + " CREATE TRIGGER refuse BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION refuse();"
          + " ALTER TABLE plant ADD CHECK (name <> 'canary-unchecked')";

  private final List<String> answers = new ArrayList<>();
  private final Database database = assertDoesNotThrow(Database::create);

  @SuppressWarnings("NullAway.Init") // started by the test that needs it
  private ServiceProcess service;

  @Test
  void nothing_secret_is_told_or_logged_even_at_the_lowest_level() throws Exception {
    try (NetworkProxy proxy = new NetworkProxy(database.port());
        ServiceProcess started =
            new ServiceProcess(database.through(proxy).environment(SETTINGS), TRACE).awaitReady()) {
      service = started;
      requireStatus(200, create("{\"id\":1,\"name\":\"canary-name\",\"tag\":\"canary-tag\"}"));
      answers.clear(); // The sender of the plant may see it.
      provokeRefusals();
      provokeFaults();
      for (String kind : List.of("liveness", "readiness", "canary", "../env", "../loggers")) {
        tell(service.health(kind));
      }
      answers.add(service.metrics());
      proxy.refuse();
      requireStatus(503, create("{\"id\":2,\"name\":\"canary-name\"}"));
      tell(service.health("readiness"));
      service.stop();

      String log = service.output() + service.errors();
      assertTrue(log.contains("TRACE"), "the log is written");
      assertTrue(log.contains(" path=/plants status=200 "), "requests are logged");
      assertTrue(log.contains(" - Stopped"), "the log is whole");
      requireNothingSecret(log);
      requireNothingSecret(String.join("\n", answers));
    }
  }

  /** The last step that can fail; the log has all earlier ones. */
  @Test
  void nothing_secret_is_logged_by_a_start_that_fails() throws Exception {
    Map<String, String> environment = database.environment(SETTINGS);
    environment.put("DATABASE_USERNAME", "nobody");
    try (ServiceProcess refused = new ServiceProcess(environment, TRACE)) {
      assertEquals(1, refused.awaitExit());
      requireNothingSecret(refused.output() + refused.errors());
    }
  }

  private void provokeRefusals() throws IOException {
    requireStatus(400, create("{\"id\":1,\"name\":\"canary-other\"}"));
    for (String body :
        List.of(
            "{\"id\":\"canary-id\",\"canary-member\":1}",
            "{\"id\":1,\"name\":{\"canary\":1}}",
            "{\"id\":1,\"name\":\"canary\\u0000\"}",
            "{\"id\":1,\"name\":\"canary\\ud800\",\"tag\":\"\\ud800canary\"}",
            "{\"canary\":1,\"canary\":2}",
            "[\"canary\"]",
            "canary",
            "{\"id\":1,\"name\":\"canary",
            "{\"id\":1,\"name\":\"canary\"} canary",
            "canary".repeat(200_000))) {
      requireStatus(400, create(body));
    }
    requireStatus(400, request("/plants").setHeader("Content-Type", "text/plain"));
    requireStatus(400, request("/plants").header("Content-Encoding", "canary"));
    requireStatus(404, request("/elsewhere"));
    requireStatus(405, request("/plants").GET());
    String token = ServiceProcess.token();
    int end = token.length();
    for (String invalid :
        List.of(
            "canary",
            "canary.canary.canary",
            token.substring(0, end - 5),
            token.substring(0, end - 5) + "canar",
            DevelopmentKey.token(Duration.ofHours(-1)))) {
      requireStatus(401, request("/plants").setHeader("Authorization", "Bearer " + invalid));
    }
    String post = "POST /plants?canary HTTP/1.1\r\nAuthorization: Bearer " + token + "\r\n";
    for (String malformed :
        List.of(
            "canary\r\n",
            "GET /elsewhere?canary\r\n",
            post + "Canary: canary\r\n",
            post + "Host: canary\r\nca nary: canary\r\n",
            post + "Host: canary\r\nContent-Length: canary\r\n",
            post
                + "Host: canary\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\ncanary\r\n")) {
      sendRaw(malformed + "\r\n");
    }
  }

  private void provokeFaults() throws Exception {
    database.execute(REFUSING_TRIGGER);
    requireStatus(500, create("{\"id\":3,\"name\":\"canary-refused\"}"));
    requireStatus(500, create("{\"id\":4,\"name\":\"canary-unchecked\"}"));
    database.execute("ALTER TABLE plant RENAME TO other");
    requireStatus(503, create("{\"id\":5,\"name\":\"canary-name\"}"));
    database.execute("ALTER TABLE other RENAME TO plant");
  }

  private HttpRequest.Builder create(String body) {
    return request("/plants").POST(HttpRequest.BodyPublishers.ofString(body));
  }

  /** Returns a create with a valid token at this path, with secrets in each part. */
  private HttpRequest.Builder request(String path) {
    return ServiceProcess.createRequest(service.address())
        .uri(service.address().resolve(path + "?canary-query=canary"))
        .header("X-Canary", "canary-header")
        .header("Cookie", "canary=canary")
        .header("User-Agent", "canary")
        .POST(HttpRequest.BodyPublishers.ofString("{\"id\":1,\"name\":\"canary\"}"));
  }

  private void requireStatus(int status, HttpRequest.Builder request) {
    HttpResponse<String> answer = ServiceProcess.send(request);
    tell(answer);
    assertEquals(status, answer.statusCode(), answer.body());
  }

  private void tell(HttpResponse<String> answer) {
    answers.add(answer.headers().map() + answer.body());
  }

  private void sendRaw(String request) throws IOException {
    try (Socket connection = new Socket("localhost", service.port)) {
      connection.setSoTimeout((int) Await.LIMIT.toMillis());
      connection.getOutputStream().write(request.getBytes(US_ASCII));
      String answer = new String(connection.getInputStream().readAllBytes(), ISO_8859_1);
      assertTrue(answer.matches("(?s)HTTP/1\\.[01] 400 .*"), answer);
      answers.add(answer);
    }
  }

  private static void requireNothingSecret(String text) {
    for (String secret : List.of("canary", DevelopmentKey.SECRET, "eyJ")) {
      assertFalse(
          text.contains(secret),
          () -> text.lines().filter(line -> line.contains(secret)).findFirst().orElse(secret));
    }
  }
}
