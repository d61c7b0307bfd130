package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The recipes on the page of the HTTP adapter work as documented. */
@Execution(ExecutionMode.CONCURRENT)
class RecipesTest {

  private static final Path PAGE = Path.of("..", "plant-adapter-http", "README.md");

  private static final Duration RETRY_AFTER = Duration.ofSeconds(1);
  private static final Duration TIMER_INACCURACY = Duration.ofMillis(20);

  @TempDir Path folder;

  /** Recipes by their language on the page. */
  enum Recipe {
    SH("create.sh", "bash"), // and curl
    JAVA("CreatePlant.java", Path.of(System.getProperty("java.home"), "bin", "java").toString()),
    PYTHON("create.py", "python3"),
    JAVASCRIPT("create.mjs", "node");

    private final String file;
    private final String interpreter;

    Recipe(String file, String interpreter) {
      this.file = file;
      this.interpreter = interpreter;
    }
  }

  @ParameterizedTest
  @EnumSource
  void recipe_creates_a_plant_or_tells_the_error(Recipe recipe) throws Exception {
    URI service = ServiceProcess.shared().address();
    Program.Ended created = run(recipe, service, ServiceProcess.token());
    created.requireSuccess();
    assertTrue(created.output().contains("{\"name\":\"fern\""), created.output());

    Program.Ended refused = run(recipe, service, "a.b.c");
    assertNotEquals(0, refused.exitCode());
    assertTrue(refused.output().contains("{\"error\":4002,"), refused.output());
  }

  @ParameterizedTest
  @EnumSource
  void recipe_sends_the_same_again_when_that_can_help(Recipe recipe) throws IOException {
    List<String> bodies = new CopyOnWriteArrayList<>();
    List<Long> arrivals = new CopyOnWriteArrayList<>();
    HttpServer faulty =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    faulty.createContext(
        "/plants",
        exchange -> {
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          exchange.getResponseHeaders().add("Retry-After", String.valueOf(RETRY_AFTER.toSeconds()));
          arrivals.add(System.nanoTime());
          switch (bodies.size()) {
            case 1 -> exchange.sendResponseHeaders(503, -1);
            case 2 -> exchange.sendResponseHeaders(502, -1);
            case 3 -> exchange.sendResponseHeaders(504, -1);
            case 5 -> exchange.sendResponseHeaders(200, -1);
            default -> {} // the connection breaks
          }
          exchange.close();
        });
    faulty.start();
    try {
      URI address = URI.create("http://localhost:" + faulty.getAddress().getPort());
      run(recipe, address, ServiceProcess.token()).requireSuccess();
    } finally {
      faulty.stop(0);
    }

    assertEquals(5, bodies.size());
    assertEquals(Set.of(bodies.get(0)), Set.copyOf(bodies));
    long wait = RETRY_AFTER.minus(TIMER_INACCURACY).toNanos();
    assertTrue(arrivals.get(1) - arrivals.get(0) >= wait, "it waited");
    assertTrue(bodies.get(0).matches("\\{\"id\": ?\\d+, ?\"name\": ?\"fern\".*}"), bodies.get(0));
  }

  private Program.Ended run(Recipe recipe, URI service, String token) throws IOException {
    Program.requireInstalled(recipe.interpreter);
    Program.requireInstalled("curl");
    String text =
        Manifests.block(PAGE, recipe).replace("http://localhost:8080", service.toString());
    Files.writeString(folder.resolve(recipe.file), text);
    // A home without settings of curl. Java compiles its recipe each time.
    Map<String, String> environment =
        Map.of("TOKEN", token, "HOME", folder + "", "JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1");
    return Program.run(folder, environment, recipe.interpreter, recipe.file);
  }
}
