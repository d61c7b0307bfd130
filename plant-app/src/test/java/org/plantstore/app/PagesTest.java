package org.plantstore.app;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.app.ProjectFiles.groups;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the pages with the files, tests, log lines, and metrics that they name. */
class PagesTest {

  private static final Path ROOT = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

  private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```$");
  private static final Pattern CODE = Pattern.compile(FENCED + "|`[^`\n]*`");
  private static final Pattern LINK = Pattern.compile("\\]\\((?![a-z]+:)([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?) *$");
  private static final Pattern TEST = Pattern.compile("`([A-Z][A-Za-z]+Test)`");

  /** A logged warning or error, up to its first placeholder. */
  private static final Pattern LOGGED =
      Pattern.compile("(?:LOG\\s*\\.(?:warn|error)\\(|Level.WARN,)\\s*\"((?:\\{} )?[^\"{]+)");

  /** The heading of a runbook entry that quotes the beginning of a log line. */
  private static final Pattern RUNBOOK_HEADING = Pattern.compile("(?m)^### `([^`\n]+)`$");

  /** A runbook entry: its heading and its three parts. */
  private static final Pattern RUNBOOK_ENTRY =
      Pattern.compile(
          "(?s)[^\n]+\n\n\\*Meaning\\.\\* .+\n\n\\*Effect on callers\\.\\* .+\n\n\\*Action\\.\\*\\s.+");

  /** A row of the table of metrics: a metric, its labels or a dash, its unit, and its meaning. */
  private static final Pattern METRIC_ROW =
      Pattern.compile("(?m)^\\| `([a-z0-9_]+\\*?)` \\| (—|(?:`[a-z]+`(?:, )?)+) \\| .* \\|$");

  private static final Pattern NAME = Pattern.compile("[a-z]+");

  /** A scraped series: a metric and its labels. */
  private static final Pattern SERIES = Pattern.compile("(?m)^([a-z0-9_]+)(\\{.*})? (?=\\S+$)");

  /** A metric in a query, and the conditions on its labels. */
  private static final Pattern SELECTOR = Pattern.compile("([a-z0-9_]+)(\\{.*?})");

  private static final Pattern LABEL = Pattern.compile("(?<=[{, ])([a-z_]+)(?:=|!=)");

  /** The labels and the metric that Prometheus itself adds. */
  private static final Set<String> ADDED_BY_PROMETHEUS = Set.of("job", "instance", "up");

  @Test
  void every_link_has_a_target_and_every_named_test_exists() throws IOException {
    List<Path> pages = files(".*\\.md");
    Set<String> tests = new TreeSet<>();
    for (Path page : pages) {
      groups(TEST, ProjectFiles.text(page)).forEach(tests::add);
      String text = CODE.matcher(ProjectFiles.text(page)).replaceAll("");
      groups(LINK, text).forEach(link -> assertTrue(hasTarget(page, link), page + " " + link));
    }

    assertTrue(pages.size() > 5 && tests.size() > 5, () -> "too few were found: " + pages + tests);
    for (Path file : files(".*\\.java")) {
      tests.remove(file.getFileName().toString().replace(".java", ""));
    }
    assertEquals(Set.of(), tests);
  }

  private static boolean hasTarget(Path page, String link) {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
    return Files.exists(target)
        && (parts.length == 1 || anchors(target).anyMatch(parts[1]::equals));
  }

  /** Returns the anchors that GitHub generates for a page's headings. */
  private static Stream<String> anchors(Path page) {
    return groups(HEADING, FENCED.matcher(ProjectFiles.text(page)).replaceAll(""))
        .map(heading -> heading.toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
  }

  /** Returns the project's files with matching paths, except build output and npm packages. */
  private static List<Path> files(String path) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().matches(path))
          .filter(
              file -> !ROOT.relativize(file).toString().matches("(.*/)?(target|node_modules)/.*"))
          .toList();
    }
  }

  @Test
  void runbook_has_an_entry_for_every_logged_warning_and_error() throws IOException {
    Set<String> logged = new TreeSet<>();
    for (Path file : files(".*/src/main/java/.*\\.java")) {
      logLines(LOGGED, ProjectFiles.text(file)).forEach(logged::add);
    }

    assertTrue(logged.size() > 5, () -> "too few log lines were found: " + logged);
    assertEquals(logged, logLines(RUNBOOK_HEADING, ProjectFiles.runbook()).collect(toSet()));
  }

  @Test
  void runbook_entry_states_the_meaning_the_effect_on_callers_and_the_action() {
    String[] entries = ProjectFiles.runbook().split("\n### ", -1);
    assertTrue(entries.length > 5, () -> "too few entries were found: " + entries.length);
    for (int number = 1; number < entries.length; number++) {
      String entry = entries[number];
      assertTrue(RUNBOOK_ENTRY.matcher(entry).matches(), entry);
    }
  }

  private static Stream<String> logLines(Pattern pattern, String text) {
    return groups(pattern, text).map(line -> line.replace("{}", "…").replaceAll("[: ]+$", ""));
  }

  @Test
  void documented_metrics_match_the_scraped_ones_and_queries_use_no_others() throws IOException {
    Map<String, Set<String>> documented = new TreeMap<>();
    METRIC_ROW
        .matcher(ProjectFiles.page("operations.md").replaceFirst("(?s)^.*\n## Metrics\n", ""))
        .results()
        .forEach(row -> documented.put(row.group(1), found(NAME, row.group(2))));
    assertEquals(200, ServiceProcess.shared().create(603, "fern").statusCode());
    Map<String, Set<String>> scraped = new TreeMap<>();
    SERIES
        .matcher(ServiceProcess.shared().metrics())
        .results()
        .forEach(series -> {
          Set<String> labels = found(LABEL, series.group());
          labels.remove("le"); // the upper bound of a bucket
          String family = family(series.group(1));
          Set<String> all = scraped.computeIfAbsent(family, first -> new TreeSet<>());
          all.addAll(family.endsWith("*") ? Set.of() : labels);
        });
    assertEquals(documented, scraped);

    List<String> queries =
        new ArrayList<>(
            ProjectFiles.read("kubernetes/monitoring/alerts.yaml").findValuesAsText("expr"));
    ProjectFiles.read("grafana-dashboard.json").findValuesAsText("expr", queries);
    for (String query : queries) {
      SELECTOR
          .matcher(query)
          .results()
          .forEach(selector -> {
            Set<String> labels = found(LABEL, selector.group());
            labels.removeAll(ADDED_BY_PROMETHEUS);
            String family = family(selector.group(1));
            if (!ADDED_BY_PROMETHEUS.contains(family)) {
              assertTrue(documented.containsKey(family), query);
              assertTrue(
                  family.endsWith("*")
                      || documented.getOrDefault(family, Set.of()).containsAll(labels),
                  query);
            }
          });
    }
  }

  /** Returns the documented name of a metric. The metrics of a library share one name. */
  private static String family(String series) {
    return series
        .replaceFirst("^(cache|hikaricp|jvm|process|system)_.*", "$1_*")
        .replaceFirst("(_bucket|_count|_sum|(?<=seconds|plants)_max)$", "");
  }

  private static Set<String> found(Pattern pattern, String text) {
    return groups(pattern, text).collect(toCollection(TreeSet::new));
  }

  @Test
  void only_the_management_port_serves_metrics_and_only_the_api_port_serves_the_api() {
    ServiceProcess service = ServiceProcess.shared();
    String token = ServiceProcess.token();
    List<HttpRequest.Builder> absent = new ArrayList<>();
    absent.add(service.at("/prometheus").header("Authorization", "Bearer " + token));
    for (String path : List.of("/", "/health/unknown", "/plants", "/page")) {
      absent.add(service.atManagement(path));
    }
    URI management = URI.create("http://localhost:" + service.managementPort);
    absent.add(ServiceProcess.createRequest(management, token, ServiceProcess.json(602, "fern")));
    for (HttpRequest.Builder request : absent) {
      assertEquals(404, ServiceProcess.send(request).statusCode(), () -> "" + request.build());
    }
    // The id would be taken if the management port had created the plant.
    assertEquals(200, service.create(602, "moss").statusCode());
  }
}
