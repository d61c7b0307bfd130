package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The runbook on the page on operations matches the warnings and errors in the code. */
class OperationsTest {

  /** A warning or an error, up to its first value. */
  private static final Pattern LOGGED =
      Pattern.compile("LOG\\s*\\.(?:warn|error)\\(\\s*\"((?:\\{} )?[^\"{]+)");

  /** A row of the table, whose first cell is the beginning of the log line. */
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|.*\\|.*\\|$");

  @Test
  void each_warning_has_its_row() throws IOException {
    StringBuilder sources = new StringBuilder();
    for (Path file : MarkdownTest.files(".*/src/main/java/.*\\.java")) {
      sources.append(Files.readString(file));
    }
    Set<String> logged = matches(LOGGED, sources);

    assertTrue(logged.size() > 5, () -> "the sources were read: " + logged);
    String page = Files.readString(Path.of("docs", "operations.md"));
    assertEquals(logged, matches(ROW, page.replaceFirst("(?s)^.*\n## Runbook\n", "")));
  }

  private static Set<String> matches(Pattern pattern, CharSequence text) {
    return pattern
        .matcher(text)
        .results()
        .map(match -> match.group(1).replace("{}", "…").replaceAll("[: ]+$", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
