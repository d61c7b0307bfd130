package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.plantstore.client.ApiClient;
import org.plantstore.client.ApiException;
import org.plantstore.client.CreatedPlant;
import org.plantstore.client.NewPlant;
import org.plantstore.client.PlantStoreError;
import org.plantstore.client.PlantsApi;

/** The service, used by generated clients and on its page. */
@NullUnmarked // generated code says nothing about null
class ClientsTest {

  @Test
  void java_client_creates_a_plant_and_again() throws Exception {
    PlantsApi plants = plants(ServiceProcess.token());
    NewPlant newPlant = new NewPlant().id(Long.MAX_VALUE - 7).name("fern").tag("shade");

    assertEquals(new CreatedPlant().name("fern").tag("shade"), plants.createPlant(newPlant));
    assertEquals(new CreatedPlant().name("fern").tag("shade"), plants.createPlant(newPlant));
    assertEquals(
        new CreatedPlant().name("oak"), plants.createPlant(new NewPlant().id(401L).name("oak")));
  }

  @Test
  void java_client_meets_errors() throws Exception {
    String token = ServiceProcess.token();
    plants(token).createPlant(new NewPlant().id(402L).name("fern"));

    assertFailure(400, 3001, token, new NewPlant().id(402L).name("moss"));
    assertFailure(400, 2001, token, new NewPlant().name("moss"));
    assertFailure(401, 4001, null, new NewPlant().id(403L).name("moss"));
    assertFailure(401, 4002, "a.b.c", new NewPlant().id(403L).name("moss"));
  }

  @Test
  void typescript_client_creates_a_plant_and_again_and_meets_errors() throws Exception {
    Program.requireNode();
    Program.run(Program.JAVASCRIPT, Map.of(), "node_modules/.bin/tsc", "--project", "tsconfig.json")
        .requireSuccess();
    Program.runNodeTest(Program.TARGET, "javascript/src/test/javascript/client.test.mjs", Map.of());
  }

  @Test
  void go_client_creates_a_plant_and_again_and_meets_errors() throws Exception {
    String go = Program.requireInstalled("go");
    Map<String, String> environment =
        Map.of(
            "BASE",
            ServiceProcess.shared().address().toString(),
            "TOKEN",
            ServiceProcess.token(),
            "GOPATH",
            Program.TARGET.resolve("clients/go").toString(),
            // Without a module, any version of Go compiles the client, and downloads nothing.
            "GO111MODULE",
            "off",
            "CGO_ENABLED",
            "0"); // needs no C compiler
    Program.run(Path.of("src", "test", "go"), environment, go, "test", "client_test.go")
        .requireSuccess();
  }

  /** In a browser; the screenshots are in {@code target/screenshots}. */
  @Test
  @Tag("slow")
  void person_creates_plants_on_the_page() throws Exception {
    Program.requireNode();
    String browser = Program.requireInstalled("chromium", "chromium-browser", "google-chrome");
    Path screenshots = Program.TARGET.resolve("screenshots");

    Program.runNodeTest(
        Program.JAVASCRIPT,
        "page.test.mjs",
        Map.of("CHROMIUM", browser, "SCREENSHOTS", screenshots.toString()));

    for (String seen : List.of("created", "refused", "catalogue", "phone-light", "phone-dark")) {
      Path screenshot = screenshots.resolve(seen + ".png");
      assertTrue(Files.size(screenshot) > 0, screenshot.toString());
    }
  }

  private static void assertFailure(
      int status, int error, @Nullable String token, NewPlant newPlant) throws Exception {
    ApiException failure =
        assertThrows(ApiException.class, () -> plants(token).createPlant(newPlant));
    assertEquals(status, failure.getCode());
    assertEquals(
        error,
        new ObjectMapper().readValue(failure.getResponseBody(), PlantStoreError.class).getError());
  }

  private static PlantsApi plants(@Nullable String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(ServiceProcess.shared().address().toString());
    if (token != null) {
      client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    }
    return new PlantsApi(client);
  }
}
