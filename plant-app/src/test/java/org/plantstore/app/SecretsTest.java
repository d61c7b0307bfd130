package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.app.development.DevelopmentKey;

/**
 * No secret is in the log or in the answers, whatever fails and at any log level. All secrets have
 * a common part, which the test searches for.
 */
@Execution(ExecutionMode.CONCURRENT)
class SecretsTest {

  private static final Map<String, String> SETTINGS =
      Map.of(
          "DATABASE_PASSWORD", "canary-password",
          "LOGGER_LEVELS_ROOT", "TRACE",
          "ACCESS_LOG", "on",
          "DATABASE_TIMEOUT_SECONDS", "1");

  /** Details and hints of a database quote what it refuses. */
  private static final String REFUSING_TRIGGER =
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
          + " IF NEW.name = 'canary-refused' THEN RAISE EXCEPTION 'refused'"
          + " USING DETAIL = NEW.name, HINT = NEW.name; END IF; RETURN NEW; END $$;"
          + " CREATE TRIGGER refuse BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION refuse();"
          + " ALTER TABLE plant ADD CHECK (name <> 'canary-unchecked')";

  private final String token = ServiceProcess.token();
  private final List<String> answers = new ArrayList<>();

  @Test
  void nothing_secret_is_told_or_logged_even_at_the_lowest_level() throws Exception {
    Database database = Database.create();
    try (DatabaseProxy proxy = new DatabaseProxy(database.port());
        ServiceProcess service =
            new ServiceProcess(database.through(proxy).environment(SETTINGS)).awaitReady()) {
      requireStatus(
          200, create(service, "{\"id\":1,\"name\":\"canary-name\",\"tag\":\"canary-tag\"}"));
      answers.clear(); // The sender of the plant may see it.
      provokeRefusals(service);
      provokeFaults(service, database);
      for (String kind : List.of("liveness", "readiness", "canary", "../env", "../loggers")) {
        tell(service.health(kind));
      }
      answers.add(service.metrics());
      proxy.refuse();
      requireStatus(503, create(service, "{\"id\":2,\"name\":\"canary-name\"}"));
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
    Map<String, String> environment = Database.create().environment(SETTINGS);
    environment.put("DATABASE_USERNAME", "nobody");
    try (ServiceProcess service = new ServiceProcess(environment)) {
      assertEquals(1, service.awaitExit());
      requireNothingSecret(service.output() + service.errors());
    }
  }

  private void provokeRefusals(ServiceProcess service) throws IOException {
    requireStatus(400, create(service, "{\"id\":1,\"name\":\"canary-other\"}"));
    for (String body :
        List.of(
            "{\"id\":\"canary-id\",\"canary-member\":1}",
            "{\"id\":1,\"name\":{\"canary\":1}}",
            "{\"id\":1,\"name\":\"canary\\u0000\"}",
            "{\"id\":1,\"name\":\"canary\\ud800\",\"tag\":\"\\ud800canary\"}",
            "{\"canary\":1,\"canary\":2}",
            "[\"canary\"]",
            "\"canary\"",
            "canary",
            "{\"id\":1,\"name\":\"canary",
            "{\"id\":1,\"name\":\"canary\"} canary",
            "canary".repeat(200_000))) {
      requireStatus(400, create(service, body));
    }
    requireStatus(400, send(request(service, "/plants", "text/plain", token)));
    requireStatus(404, send(request(service, "/elsewhere", "application/json", token)));
    HttpRequest.Builder compressed = request(service, "/plants", "application/json", token);
    requireStatus(400, send(compressed.header("Content-Encoding", "canary")));
    requireStatus(405, send(request(service, "/plants", "application/json", token).GET()));
    int end = token.length();
    for (String invalid :
        List.of(
            "canary",
            "canary.canary.canary",
            "canary. canary",
            token.substring(0, end - 5),
            token.substring(0, end - 5) + "canar",
            DevelopmentKey.token(Duration.ofHours(-1)))) {
      requireStatus(401, send(request(service, "/plants", "application/json", invalid)));
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
      sendRaw(service, malformed + "\r\n");
    }
  }

  private void provokeFaults(ServiceProcess service, Database database) throws Exception {
    database.execute(REFUSING_TRIGGER);
    requireStatus(500, create(service, "{\"id\":3,\"name\":\"canary-refused\"}"));
    requireStatus(500, create(service, "{\"id\":4,\"name\":\"canary-unchecked\"}"));
    database.execute("ALTER TABLE plant RENAME TO other");
    requireStatus(500, create(service, "{\"id\":5,\"name\":\"canary-name\"}"));
    database.execute("ALTER TABLE other RENAME TO plant");
  }

  private HttpResponse<String> create(ServiceProcess service, String body) {
    return send(
        request(service, "/plants", "application/json", token)
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private static HttpRequest.Builder request(
      ServiceProcess service, String path, String contentType, String token) {
    return HttpRequest.newBuilder(service.address().resolve(path + "?canary-query=canary"))
        .header("Authorization", "Bearer " + token)
        .header("Content-Type", contentType)
        .header("X-Canary", "canary-header")
        .header("Cookie", "canary=canary")
        .header("User-Agent", "canary")
        .POST(HttpRequest.BodyPublishers.ofString("{\"id\":1,\"name\":\"canary\"}"));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    return tell(ServiceProcess.send(request));
  }

  private HttpResponse<String> tell(HttpResponse<String> answer) {
    answers.add(answer.headers().map() + answer.body());
    return answer;
  }

  private void sendRaw(ServiceProcess service, String request) throws IOException {
    try (Socket connection = new Socket("localhost", service.port)) {
      connection.setSoTimeout((int) Await.LIMIT.toMillis());
      connection.getOutputStream().write(request.getBytes(US_ASCII));
      String answer = new String(connection.getInputStream().readAllBytes(), ISO_8859_1);
      assertTrue(answer.matches("(?s)HTTP/1\\.[01] 400 .*"), answer);
      answers.add(answer);
    }
  }

  private static void requireStatus(int status, HttpResponse<String> answer) {
    assertEquals(status, answer.statusCode(), answer.body());
  }

  private static void requireNothingSecret(String text) {
    for (String secret : List.of("canary", DevelopmentKey.SECRET, "eyJ")) {
      assertFalse(
          text.contains(secret),
          () -> text.lines().filter(line -> line.contains(secret)).findFirst().orElse(secret));
    }
  }
}
