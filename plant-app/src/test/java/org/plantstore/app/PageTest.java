package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The page as a person uses it, in a browser. What was seen is in {@code target/screenshots}. */
@Tag("slow")
class PageTest {

  @Test
  void person_creates_plants_on_the_page() throws Exception {
    Program.requireNode();
    String browser = Program.requireInstalled("chromium", "chromium-browser", "google-chrome");
    Path screenshots = Program.TARGET.resolve("screenshots");

    Program.runNodeTest(
        Program.JAVASCRIPT,
        "page.test.mjs",
        Map.of("CHROMIUM", browser, "SCREENSHOTS", screenshots.toString()));

    for (String seen :
        List.of("created", "refused", "catalogue", "phone-320-light", "phone-320-dark")) {
      Path screenshot = screenshots.resolve(seen + ".png");
      assertTrue(Files.size(screenshot) > 0, screenshot.toString());
    }
  }
}
