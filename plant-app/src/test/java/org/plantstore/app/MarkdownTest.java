package org.plantstore.app;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.app.Manifests.groups;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages match their links, the classes they name, and the log. */
class MarkdownTest {

  private static final Path ROOT = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
  private static final Path README = ROOT.resolve("README.md");

  private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```$");
  private static final Pattern CODE = Pattern.compile(FENCED + "|`[^`\n]*`");
  private static final Pattern LINK = Pattern.compile("\\]\\((?![a-z]+:)([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?) *$");
  private static final Pattern CLASS = Pattern.compile("`((?:[A-Z][a-z]+){2,})`");

  /** A warning or an error, up to its first value. */
  private static final Pattern LOGGED =
      Pattern.compile("(?:LOG\\s*\\.(?:warn|error)\\(|Level.WARN,)\\s*\"((?:\\{} )?[^\"{]+)");

  /** A row of the runbook, whose first cell is the beginning of the log line. */
  private static final Pattern RUNBOOK_ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|.*\\|.*\\|$");

  @Test
  void each_link_leads_to_a_file_and_a_heading() throws IOException {
    List<Path> pages = files(".*\\.md");

    assertTrue(pages.size() > 5, () -> "the pages were found: " + pages);
    pages.forEach(page -> assertEquals(List.of(), broken(page), page::toString));
  }

  /** On the other pages, only tests are checked: they also name classes of other projects. */
  @Test
  void classes_of_the_readme_and_tests_of_all_pages_are_there() throws IOException {
    Set<String> named = groups(CLASS, Manifests.text(README)).collect(toSet());
    for (Path page : files(".*\\.md")) {
      groups(CLASS, Manifests.text(page)).filter(name -> name.endsWith("Test")).forEach(named::add);
    }

    assertTrue(named.contains("ChaosTest"), () -> "the names were found: " + named);
    for (Path file : files(".*\\.java")) {
      named.remove(file.getFileName().toString().replace(".java", ""));
    }
    assertEquals(Set.of(), named);
  }

  @Test
  void each_warning_and_error_has_its_row_of_the_runbook() throws IOException {
    Set<String> logged = new TreeSet<>();
    for (Path file : files(".*/src/main/java/.*\\.java")) {
      logLines(LOGGED, Manifests.text(file)).forEach(logged::add);
    }

    assertTrue(logged.size() > 5, () -> "the sources were read: " + logged);
    assertEquals(logged, logLines(RUNBOOK_ROW, Manifests.runbook()).collect(toSet()));
  }

  private static Stream<String> logLines(Pattern pattern, String text) {
    return groups(pattern, text).map(line -> line.replace("{}", "…").replaceAll("[: ]+$", ""));
  }

  /** Returns the files of the project whose paths match, except those of a build or npm. */
  private static List<Path> files(String path) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().matches(path))
          .filter(
              file -> !ROOT.relativize(file).toString().matches("(.*/)?(target|node_modules)/.*"))
          .toList();
    }
  }

  private static List<String> broken(Path page) {
    return groups(LINK, CODE.matcher(Manifests.text(page)).replaceAll(""))
        .filter(link -> !leadsSomewhere(page, link))
        .toList();
  }

  private static boolean leadsSomewhere(Path page, String link) {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
    return Files.exists(target)
        && (parts.length == 1 || anchors(target).anyMatch(parts[1]::equals));
  }

  /** Returns the anchors that GitHub and others give the headings of a page. */
  private static Stream<String> anchors(Path page) {
    return groups(HEADING, FENCED.matcher(Manifests.text(page)).replaceAll(""))
        .map(heading -> heading.toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
  }
}
