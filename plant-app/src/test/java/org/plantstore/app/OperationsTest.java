package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the page on operations says is there is there. */
class OperationsTest {

  private static final Path ROOT = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

  /** A warning or an error, up to its first value. */
  private static final Pattern LOGGED =
      Pattern.compile("LOG\\s*\\.(?:warn|error)\\(\\s*\"((?:\\{} )?[^\"{]+)");

  /** A row of the table, whose first cell is what the line of the log says. */
  private static final Pattern ROW = Pattern.compile("^\\| `([^`]+)` \\|.*\\|.*\\|$");

  @Test
  void each_warning_has_its_row() throws IOException {
    Set<String> logged = logged();

    assertTrue(logged.size() > 5, () -> "the sources were read: " + logged);
    assertEquals(logged, rows());
  }

  private static Set<String> logged() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().matches(".*/src/main/java/.*\\.java"))
          .flatMap(file -> LOGGED.matcher(read(file)).results())
          .map(line -> normalize(line.group(1)))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static Set<String> rows() {
    return section("## Runbook")
        .flatMap(line -> ROW.matcher(line).results())
        .map(row -> normalize(row.group(1)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Stream<String> section(String heading) {
    List<String> lines = read(ROOT.resolve("plant-app/docs/operations.md")).lines().toList();
    return lines.stream()
        .skip(lines.indexOf(heading) + 1)
        .takeWhile(line -> !line.matches("###? .*"));
  }

  private static String normalize(String line) {
    return line.replace("{}", "…").replaceAll("[: ]+$", "");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
