package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
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
import org.plantstore.app.development.DevelopmentKey;

/** All secrets have a common part, which is searched for in the log and in the answers. */
@Tag("newest")
@Tag("slow")
class SecretsTest {

  private static final String TRACE = "-Dlogger.levels.root=TRACE";

  /** Details and hints of a database quote what it refuses. */
  private static final String REFUSING_TRIGGER =
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
          + " IF NEW.name = 'canary-refused' THEN RAISE EXCEPTION 'refused'"
          + " USING DETAIL = NEW.name, HINT = NEW.name; END IF; RETURN NEW; END $$;"
          + " CREATE TRIGGER refuse BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION refuse();"
          + " ALTER TABLE plant ADD CHECK (name <> 'canary-unchecked')";

  private final List<String> answers = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // started by the test
  private ServiceProcess service;

  @Test
  void nothing_secret_is_told_or_logged_even_at_the_lowest_level() throws Exception {
    Database database = Database.create();
    try (NetworkProxy proxy = new NetworkProxy(database.port());
        ServiceProcess started =
            new ServiceProcess(
                    ServiceProcess.java(List.of(), TRACE),
                    database
                        .through(proxy)
                        .environment(
                            "DATABASE_PASSWORD", "canary-password",
                            "ACCESS_LOG", "on",
                            "DATABASE_TIMEOUT_SECONDS", "5"))
                .awaitReady()) {
      service = started;
      requireStatus(200, create("{\"id\":1,\"name\":\"canary-name\",\"tag\":\"canary-tag\"}"));
      answers.clear(); // The sender of the plant may see it.
      provokeRefusals();
      provokeFaults(database);
      for (String path : List.of("/health/readiness", "/health/canary", "/env", "/prometheus")) {
        tell(service.atManagement(path));
      }
      proxy.refuse();
      requireStatus(503, create("{\"id\":2,\"name\":\"canary-name\"}"));
      tell(service.atManagement("/health/readiness"));
      service.stop();

      String log = service.output() + service.errors();
      for (String expected :
          List.of("TRACE", " path=/plants status=200 ", " - The service has stopped")) {
        assertTrue(log.contains(expected), expected);
      }
      requireNothingSecret(log);
      requireNothingSecret(String.join("\n", answers));
    }
  }

  /** The last step that can fail; the log has all earlier ones. */
  @Test
  void nothing_secret_is_logged_by_a_start_that_fails() throws Exception {
    Map<String, String> environment =
        Database.create()
            .environment("DATABASE_USERNAME", "nobody", "DATABASE_PASSWORD", "canary-password");
    try (ServiceProcess refused =
        new ServiceProcess(ServiceProcess.java(List.of(), TRACE), environment)) {
      assertEquals(1, refused.awaitExit());
      requireNothingSecret(refused.output() + refused.errors());
    }
  }

  private void provokeRefusals() throws IOException {
    for (String body :
        List.of(
            "{\"id\":1,\"name\":\"canary-other\"}",
            "{\"id\":\"canary-id\",\"canary-member\":1}",
            "{\"id\":1,\"name\":\"canary\\u0000\"}",
            "{\"id\":1,\"name\":\"canary\\ud800\",\"tag\":\"\\ud800canary\"}",
            "[\"canary\"]",
            "canary",
            "{\"id\":1,\"name\":\"canary\"} canary",
            "canary".repeat(200_000))) {
      // The answer may quote the caller's own body; the log must not.
      assertEquals(400, ServiceProcess.send(create(body)).statusCode(), body);
    }
    requireStatus(400, create("{}").setHeader("Content-Type", "text/plain"));
    requireStatus(400, create("{}").header("Content-Encoding", "canary"));
    requireStatus(404, create("{}").uri(service.address().resolve("/elsewhere?canary")));
    requireStatus(405, create("{}").GET());
    String token = ServiceProcess.token();
    String cut = token.substring(0, token.length() - 5);
    String expired = DevelopmentKey.token(Duration.ofHours(-1));
    for (String invalid : List.of("canary", "canary.canary.canary", cut, cut + "canar", expired)) {
      requireStatus(401, create("{}").setHeader("Authorization", "Bearer " + invalid));
    }
    String post = "POST /plants?canary HTTP/1.1\r\nAuthorization: Bearer " + token + "\r\n";
    for (String malformed :
        List.of(
            "canary\r\n",
            post + "Canary: canary\r\n",
            post + "Host: canary\r\nca nary: canary\r\n",
            post + "Host: canary\r\nContent-Length: canary\r\n",
            post
                + "Host: canary\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\ncanary\r\n")) {
      try (Socket connection = new Socket("localhost", service.port)) {
        connection.getOutputStream().write((malformed + "\r\n").getBytes(ISO_8859_1));
        String answer = new String(connection.getInputStream().readAllBytes(), ISO_8859_1);
        assertTrue(answer.matches("(?s)HTTP/1\\.[01] 400 .*"), answer);
        answers.add(answer);
      }
    }
  }

  private void provokeFaults(Database database) throws Exception {
    database.execute(REFUSING_TRIGGER);
    requireStatus(500, create("{\"id\":3,\"name\":\"canary-refused\"}"));
    requireStatus(500, create("{\"id\":4,\"name\":\"canary-unchecked\"}"));
    database.execute("ALTER TABLE plant RENAME TO other");
    requireStatus(503, create("{\"id\":5,\"name\":\"canary-name\"}"));
    database.execute("ALTER TABLE other RENAME TO plant");
  }

  /** Returns a create with a valid token and with secrets in each part. */
  private HttpRequest.Builder create(String body) {
    return ServiceProcess.createRequest(service.address(), ServiceProcess.token(), body)
        .uri(service.address().resolve("/plants?canary-query=canary"))
        .header("X-Canary", "canary-header")
        .header("Cookie", "canary=canary")
        .header("User-Agent", "canary");
  }

  private void requireStatus(int status, HttpRequest.Builder request) {
    HttpResponse<String> answer = tell(request);
    assertEquals(status, answer.statusCode(), answer.body());
  }

  private HttpResponse<String> tell(HttpRequest.Builder request) {
    HttpResponse<String> answer = ServiceProcess.send(request);
    answers.add(answer.headers().map() + answer.body());
    return answer;
  }

  private static void requireNothingSecret(String text) {
    for (String secret : List.of("canary", DevelopmentKey.SECRET, "eyJ")) {
      assertFalse(
          text.contains(secret),
          () -> text.lines().filter(line -> line.contains(secret)).findFirst().orElse(secret));
    }
  }
}
