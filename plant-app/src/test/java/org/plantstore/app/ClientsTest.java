package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.app.development.DevelopmentKey;
import org.yaml.snakeyaml.Yaml;

/**
 * Calls the service with the examples of its OpenAPI document, the recipes on the HTTP adapter's
 * page, generated clients, and the console page in a browser.
 */
@NullUnmarked // a missing example fails the test
class ClientsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path TARGET = Path.of("target").toAbsolutePath();

  private static final String FERN = "{\"id\":1,\"name\":\"fern\",\"tag\":\"shade\"}";

  private static final Pattern BODY = Pattern.compile("response to `([\\[{].*)`");

  @TempDir Path folder;

  private final ServiceProcess service = ServiceProcess.shared();

  @Test
  void every_example_request_receives_the_example_response() throws JsonProcessingException {
    Map<String, JsonNode> requests = examples("/requestBody");
    Map<String, JsonNode> responses = examples("/responses/200");
    assertEquals(requests.keySet(), responses.keySet());
    for (String name : requests.keySet()) {
      String request = requests.get(name).get("value").toString();
      assertResponse(200, responses.get(name), service.create(request));
    }

    assertEquals(200, service.create(FERN).statusCode());
    HttpRequest.Builder tooManyHeaders = service.at("/plants");
    IntStream.rangeClosed(0, 100).forEach(number -> tooManyHeaders.header("X-" + number, "any"));
    Map<String, HttpRequest.Builder> others =
        Map.of(
            "malformedRequest", tooManyHeaders,
            "contentType", createFern("").setHeader("Content-Type", "text/plain"),
            "contentEncoding", createFern("").setHeader("Content-Encoding", "gzip"),
            "bodyTooLarge", createFern(" ".repeat(1_048_577 - FERN.length())));
    Map<String, JsonNode> refusals = examples("/responses/400");
    for (String name : refusals.keySet()) {
      Matcher body = BODY.matcher(refusals.get(name).path("description").asText());
      HttpRequest.Builder other = others.get(name);
      assertTrue(body.find() || other != null, () -> "no request for the example " + name);
      assertResponse(
          400,
          refusals.get(name),
          other == null ? service.create(body.group(1)) : ServiceProcess.send(other));
    }
  }

  private HttpRequest.Builder createFern(String end) {
    return ServiceProcess.createRequest(service.address(), ServiceProcess.token(), FERN + end);
  }

  private static void assertResponse(int status, JsonNode example, HttpResponse<String> response)
      throws JsonProcessingException {
    assertEquals(example.get("value"), JSON.readTree(response.body()));
    assertEquals(status, response.statusCode());
  }

  private Map<String, JsonNode> examples(String part) {
    String place = "/paths/~1plants/post" + part + "/content/application~1json/examples";
    String document = ServiceProcess.send(service.at("/openapi.yaml")).body();
    return JSON.<JsonNode>valueToTree(new Yaml().load(document)).at(place).properties().stream()
        .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  @ParameterizedTest
  @CsvSource({"sh, bash", "python, python3", "javascript, node"})
  void recipe_creates_a_plant_or_prints_the_error_and_retries_when_that_can_help(
      String recipe, String interpreter) throws IOException {
    Program.Result created = run(recipe, interpreter, service.address(), ServiceProcess.token());
    created.requireSuccess();
    assertTrue(created.output().contains("{\"name\":\"fern\""), created.output());

    Program.Result refused = run(recipe, interpreter, service.address(), "a.b.c");
    assertNotEquals(0, refused.exitCode());
    assertTrue(refused.output().contains("{\"error\":4002,"), refused.output());

    List<String> bodies = new CopyOnWriteArrayList<>();
    List<Long> arrivals = new CopyOnWriteArrayList<>();
    List<Integer> statuses = List.of(503, 502, 504, 0, 200); // 0 breaks the connection
    HttpServer faulty = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
    faulty.createContext(
        "/plants",
        exchange -> {
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          exchange.getResponseHeaders().add("Retry-After", "1");
          arrivals.add(System.nanoTime());
          int status = statuses.get(bodies.size() - 1);
          if (status != 0) {
            exchange.sendResponseHeaders(status, -1);
          }
          exchange.close();
        });
    faulty.start();
    try {
      URI address = URI.create("http://localhost:" + faulty.getAddress().getPort());
      run(recipe, interpreter, address, ServiceProcess.token()).requireSuccess();
    } finally {
      faulty.stop(0);
    }
    assertEquals(5, bodies.size());
    assertEquals(Set.of(bodies.get(0)), Set.copyOf(bodies));
    // One second, minus a tolerance for inaccurate timers.
    assertTrue(arrivals.get(1) - arrivals.get(0) >= 980_000_000, "must wait for Retry-After");
    assertTrue(bodies.get(0).matches("\\{\"id\": ?\\d+, ?\"name\": ?\"fern\".*}"), bodies.get(0));
  }

  private Program.Result run(String recipe, String interpreter, URI address, String token)
      throws IOException {
    Program.requireInstalled(interpreter);
    Program.requireInstalled("curl");
    String page = ProjectFiles.text(Path.of("..", "plant-adapter-http", "README.md"));
    String text =
        ProjectFiles.block(page, recipe).replace("http://localhost:8080", address.toString());
    Files.writeString(folder.resolve("create.mjs"), text); // only Node.js needs this name
    // This home directory contains no curl settings.
    Map<String, String> environment = Map.of("TOKEN", token, "HOME", folder + "");
    return Program.run(folder, environment, interpreter, "create.mjs");
  }

  @ParameterizedTest
  @Tag("slow")
  @CsvSource(
      delimiter = '|',
      value = {
        "go | client_test.go | configuration.Servers[0].URL = address | go test client_test.go",
        "javascript | client.test.mts | new Configuration({ basePath: address, accessToken })"
            + " | npm run client",
      })
  void generated_client_creates_a_plant_repeats_the_create_and_reports_errors(
      String folder, String source, String documented, String command) throws IOException {
    assertNotEquals(8080, service.port, "a client without an address calls port 8080");
    String page = ProjectFiles.text(Path.of("..", "plant-adapter-http", "README.md"));
    String program = ProjectFiles.text(Path.of("src", "test", folder, source));
    assertTrue(page.contains("`" + documented + "`") && program.contains(documented), documented);
    runAsCaller(folder, command, Map.of());
  }

  /** Runs a browser and stores screenshots in {@code target/screenshots}. */
  @Test
  @Tag("slow")
  @Timeout(900) // a browser that hangs is killed after seven minutes and started again
  void user_creates_plants_on_the_console_page() throws IOException {
    String browser = Program.requireInstalled("chromium", "chromium-browser", "google-chrome");
    runAsCaller("javascript", "npm run page", Map.of("CHROMIUM", browser));
  }

  /** Runs tests with the service's address, a token, and a token without a required claim. */
  private void runAsCaller(String language, String command, Map<String, String> others)
      throws IOException {
    Path tests = Path.of("src", "test", language);
    Program.requireInstalled(command.replaceFirst(" .*", ""));
    Assumptions.assumeTrue(
        !language.equals("javascript") || Files.isDirectory(tests.resolve("node_modules")),
        "npm ci has not been run in plant-app/src/test/javascript");
    Map<String, String> environment = new HashMap<>(others);
    environment.put("BASE", service.address().toString());
    environment.put("TOKEN", ServiceProcess.token());
    environment.put(
        "STRANGER", DevelopmentKey.token(DevelopmentKey.SECRET, "stranger", Duration.ofHours(1)));
    environment.put("SCREENSHOTS", TARGET.resolve("screenshots").toString());
    environment.put("GOPATH", TARGET.resolve("clients/go").toString());
    // Without modules, every version of Go compiles the client and downloads nothing.
    environment.put("GO111MODULE", "off");
    environment.put("CGO_ENABLED", "0"); // needs no C compiler
    Program.Result result = Program.run(tests, environment, command.split(" "));
    if (result.exitCode() > 128) {
      result = Program.run(tests, environment, command.split(" "));
    }
    result.requireSuccess();
  }
}
