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

/** Every secret has a recognizable part, which must not appear in the log or in responses. */
@Tag("newest")
@Tag("slow")
class SecretsTest {

  private static final String TRACE = "-Dlogger.levels.root=TRACE";

  /** Makes PostgreSQL refuse plants with errors whose details and hints quote the plant. */
  private static final String REFUSING_TRIGGER =
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
          + " IF NEW.name = 'canary-refused' THEN RAISE EXCEPTION 'refused'"
          + " USING DETAIL = NEW.name, HINT = NEW.name; END IF; RETURN NEW; END $$;"
          + " CREATE TRIGGER refuse BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION refuse();"
          + " ALTER TABLE plant ADD CHECK (name <> 'canary-unchecked')";

  private final List<String> responses = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // started by the test
  private ServiceProcess service;

  @Test
  void no_secret_is_logged_at_any_level_or_sent_in_a_response() throws Exception {
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
                            "DATABASE_TIMEOUT_SECONDS", "2"))
                .awaitReady()) {
      service = started;
      awaitStatus(200, create("{\"id\":1,\"name\":\"canary-name\",\"tag\":\"canary-tag\"}"));
      responses.clear(); // A successful response may return the plant to its sender.
      provokeRefusals();
      provokeFaults(database);
      for (String path : List.of("/health/readiness", "/health/canary", "/env", "/prometheus")) {
        sendAndRecord(service.atManagement(path));
      }
      proxy.refuse();
      assertStatus(503, create("{\"id\":2,\"name\":\"canary-name\"}"));
      sendAndRecord(service.atManagement("/health/readiness"));
      service.stop();

      String log = service.output() + service.errors();
      for (String expected :
          List.of("TRACE", " path=/plants status=200 ", " - The service has stopped")) {
        assertTrue(log.contains(expected), expected);
      }
      assertNoSecret(log);
      assertNoSecret(String.join("\n", responses));
    }
  }

  /**
   * Connecting to the database is the last step of startup that can fail, so the log covers all
   * earlier steps.
   */
  @Test
  void no_secret_is_logged_when_startup_fails() throws Exception {
    Map<String, String> environment =
        Database.create()
            .environment("DATABASE_USERNAME", "nobody", "DATABASE_PASSWORD", "canary-password");
    try (ServiceProcess refused =
        new ServiceProcess(ServiceProcess.java(List.of(), TRACE), environment)) {
      assertEquals(1, refused.awaitExit());
      assertNoSecret(refused.output() + refused.errors());
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
      // The response may quote the caller's own body, but the log must not.
      Await.until(() -> assertEquals(400, ServiceProcess.send(create(body)).statusCode(), body));
    }
    assertStatus(400, create("{}").setHeader("Content-Type", "text/plain"));
    assertStatus(400, create("{}").header("Content-Encoding", "canary"));
    assertStatus(404, create("{}").uri(service.address().resolve("/elsewhere?canary")));
    assertStatus(405, create("{}").GET());
    String token = ServiceProcess.token();
    String cut = token.substring(0, token.length() - 5);
    String expired = DevelopmentKey.token(Duration.ofHours(-1));
    for (String invalid : List.of("canary", "canary.canary.canary", cut, cut + "canar", expired)) {
      assertStatus(401, create("{}").setHeader("Authorization", "Bearer " + invalid));
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
        String response = new String(connection.getInputStream().readAllBytes(), ISO_8859_1);
        assertTrue(response.matches("(?s)HTTP/1\\.[01] 400 .*"), response);
        responses.add(response);
      }
    }
  }

  private void provokeFaults(Database database) throws Exception {
    database.execute(REFUSING_TRIGGER);
    awaitStatus(500, create("{\"id\":3,\"name\":\"canary-refused\"}"));
    awaitStatus(500, create("{\"id\":4,\"name\":\"canary-unchecked\"}"));
    database.execute("ALTER TABLE plant RENAME TO other");
    assertStatus(503, create("{\"id\":5,\"name\":\"canary-name\"}"));
    database.execute("ALTER TABLE other RENAME TO plant");
  }

  /** Returns a create request with a valid token and a secret in every other part. */
  private HttpRequest.Builder create(String body) {
    return ServiceProcess.createRequest(service.address(), ServiceProcess.token(), body)
        .uri(service.address().resolve("/plants?canary-query=canary"))
        .header("X-Canary", "canary-header")
        .header("Cookie", "canary=canary")
        .header("User-Agent", "canary");
  }

  /** Repeats a request, because its deadline passes if the machine stalls. */
  private void awaitStatus(int status, HttpRequest.Builder request) {
    Await.until(() -> assertStatus(status, request));
  }

  private void assertStatus(int status, HttpRequest.Builder request) {
    HttpResponse<String> response = sendAndRecord(request);
    assertEquals(status, response.statusCode(), response.body());
  }

  private HttpResponse<String> sendAndRecord(HttpRequest.Builder request) {
    HttpResponse<String> response = ServiceProcess.send(request);
    responses.add(response.headers().map() + response.body());
    return response;
  }

  private static void assertNoSecret(String text) {
    for (String secret : List.of("canary", DevelopmentKey.SECRET, "eyJ")) {
      assertFalse(
          text.contains(secret),
          () -> text.lines().filter(line -> line.contains(secret)).findFirst().orElse(secret));
    }
  }
}
