package org.plantstore.app;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.yaml.snakeyaml.Yaml;

/** Reads the deployment files and the pages. */
final class ProjectFiles {

  static final Path FOLDER = Path.of("src", "operations");

  /** A row of a table of variables: their names and their default. */
  private static final Pattern VARIABLES =
      Pattern.compile("(?m)^\\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \\| ([^|]*) \\|");

  private ProjectFiles() {}

  static ObjectNode read(String file) {
    return new ObjectMapper().valueToTree(new Yaml().load(text(FOLDER.resolve(file))));
  }

  /** Returns the default of each documented variable, as the page states it. */
  static Map<String, String> documentedDefaults() {
    return VARIABLES
        .matcher(page("configuration.md"))
        .results()
        .flatMap(row ->
            Stream.of(row.group(1).replace("`", "").split(", ", -1))
                .map(name -> Map.entry(name, row.group(2))))
        .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  static String runbook() {
    return page("operations.md").replaceFirst("(?s)^.*\n## Runbook\n(.*?)\n## .*", "$1");
  }

  static String page(String name) {
    return text(Path.of("docs", name));
  }

  /** Returns a page's first fenced block in this language, ignoring the language's case. */
  static String block(String page, Object language) {
    return first("(?ims)^```" + language + "\n(.*?)^```$", page);
  }

  static String first(String pattern, String text) {
    return groups(Pattern.compile(pattern), text)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no match for " + pattern));
  }

  /** Returns the last group of each match. */
  static Stream<String> groups(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(match.groupCount()));
  }

  static String text(Path file) {
    return assertDoesNotThrow(() -> Files.readString(file));
  }
}
