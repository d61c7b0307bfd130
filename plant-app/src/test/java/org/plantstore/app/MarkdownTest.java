package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages match their links, the classes they name, and the log; the first one is short. */
class MarkdownTest {

  private static final Path ROOT = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
  private static final int MAX_README_LINES = 160;

  private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```$|`[^`\n]*`");

  private static final Pattern LINK = Pattern.compile("\\]\\((?![a-z]+:)([^)\\s]+)\\)");

  private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```$");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?) *$");
  private static final Pattern CLASS = Pattern.compile("`((?:[A-Z][a-z]+){2,})`");

  /** A warning or an error, up to its first value. */
  private static final Pattern LOGGED =
      Pattern.compile("LOG\\s*\\.(?:warn|error)\\(\\s*\"((?:\\{} )?[^\"{]+)");

  /** A row of the runbook, whose first cell is the beginning of the log line. */
  private static final Pattern RUNBOOK_ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|.*\\|.*\\|$");

  @Test
  void each_link_leads_to_a_file_and_a_heading() throws IOException {
    List<Path> pages = files(".*\\.md");

    assertTrue(pages.size() > 5, () -> "the pages were found: " + pages);
    assertEquals(List.of(), broken(pages));
  }

  @Test
  void broken_link_is_noticed(@TempDir Path folder) throws IOException {
    Path page = folder.resolve("page.md");
    Files.writeString(
        page,
        """
        # One `page`, and more
        ## More
        [a](page.md#one-page-and-more) [b](#more) [c](.) [d](https://example.org/)
        [e](absent.md) [f](#more-1) [g](page.md#absent)
        `[h](absent)`
        ```
        # no heading
        [i](absent)
        ```
        [j](#no-heading)
        """);

    assertEquals(
        Stream.of("absent.md", "#more-1", "page.md#absent", "#no-heading")
            .map(link -> page + " links to " + link)
            .toList(),
        broken(List.of(page)));
  }

  @Test
  void readme_is_short() throws IOException {
    long lines = Files.readString(ROOT.resolve("README.md")).lines().count();

    assertTrue(lines <= MAX_README_LINES, () -> "lines: " + lines);
  }

  /** On the other pages, only tests are checked: they also name classes of other projects. */
  @Test
  void classes_of_the_readme_and_tests_of_all_pages_are_there() throws IOException {
    Set<String> named = new TreeSet<>();
    for (Path page : files(".*\\.md")) {
      boolean isReadme = page.equals(ROOT.resolve("README.md"));
      CLASS
          .matcher(Files.readString(page))
          .results()
          .map(name -> name.group(1) + ".java")
          .filter(name -> isReadme || name.endsWith("Test.java"))
          .forEach(named::add);
    }

    assertTrue(named.contains("ChaosTest.java"), () -> "the names were found: " + named);
    files(".*\\.java").forEach(file -> named.remove(file.getFileName().toString()));
    assertEquals(Set.of(), named);
  }

  @Test
  void each_warning_and_error_has_its_row_of_the_runbook() throws IOException {
    StringBuilder sources = new StringBuilder();
    for (Path file : files(".*/src/main/java/.*\\.java")) {
      sources.append(Files.readString(file));
    }
    Set<String> logged = logLines(LOGGED, sources);

    assertTrue(logged.size() > 5, () -> "the sources were read: " + logged);
    assertEquals(logged, logLines(RUNBOOK_ROW, Manifests.runbook()));
  }

  private static Set<String> logLines(Pattern pattern, CharSequence text) {
    return pattern
        .matcher(text)
        .results()
        .map(match -> match.group(1).replace("{}", "…").replaceAll("[: ]+$", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns the files of the project whose paths match, except those of a build or npm. */
  private static List<Path> files(String path) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().matches(path))
          .filter(
              file -> !ROOT.relativize(file).toString().matches("(.*/)?(target|node_modules)/.*"))
          .sorted()
          .toList();
    }
  }

  private static List<String> broken(List<Path> pages) throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages) {
      String text = CODE.matcher(Files.readString(page)).replaceAll("");
      for (String link : LINK.matcher(text).results().map(result -> result.group(1)).toList()) {
        if (!leadsSomewhere(page, link)) {
          broken.add(page + " links to " + link);
        }
      }
    }
    return broken;
  }

  private static boolean leadsSomewhere(Path page, String link) throws IOException {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
    return Files.exists(target) && (parts.length == 1 || anchors(target).contains(parts[1]));
  }

  /** Returns the anchors that GitHub and others give the headings of a page. */
  private static Set<String> anchors(Path page) throws IOException {
    String text = FENCED.matcher(Files.readString(page)).replaceAll("");
    return HEADING
        .matcher(text)
        .results()
        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }
}
