package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The page as a person uses it, in a browser. What was seen is in {@code target/screenshots}. */
@Tag("slow")
class PageTest {

  @RegisterExtension static final RunningService RUNNING = new RunningService();

  @Test
  void person_creates_plants_on_the_page() throws IOException {
    Program.requireNode();
    String browser = Program.requireInstalled("chromium", "chromium-browser", "google-chrome");
    Path screenshots = Program.TARGET.resolve("screenshots");

    Program.run(
            Program.JAVASCRIPT,
            Map.of(
                "BASE",
                RUNNING.service().address().toString(),
                "TOKEN",
                ServiceProcess.token(),
                "CHROMIUM",
                browser,
                "SCREENSHOTS",
                screenshots.toString()),
            "node",
            "--test",
            "page.test.mjs")
        .requireSuccess();

    for (String seen :
        List.of("created", "refused", "catalogue", "phone-320-light", "phone-320-dark")) {
      Path screenshot = screenshots.resolve(seen + ".png");
      assertTrue(Files.size(screenshot) > 0, screenshot.toString());
    }
  }
}
