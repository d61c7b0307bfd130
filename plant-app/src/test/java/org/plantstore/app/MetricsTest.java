package org.plantstore.app;

import static java.util.stream.Collectors.toCollection;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics match the page on operations, the dashboard and the alerts. */
class MetricsTest {

  private static final JsonNode RULES = Manifests.read("kubernetes/monitoring/alerts.yaml");

  /** A row of the page on operations: a metric, its labels or a dash, its unit and its meaning. */
  private static final Pattern METRIC_ROW =
      Pattern.compile("(?m)^\\| `([a-z0-9_]+\\*?)` \\| (—|(?:`[a-z]+`(?:, )?)+) \\| .* \\|$");

  /** A row of the page on deployment: an alert, its severity, and a row of the runbook. */
  private static final Pattern ALERT_ROW =
      Pattern.compile("(?m)^\\| (PlantStore[A-Za-z]+) \\| (.*?) \\| .* \\| (.*?) \\|$");

  private static final Pattern NAME = Pattern.compile("[a-z]+");

  /** A scraped series: a metric and its labels. */
  private static final Pattern SERIES = Pattern.compile("(?m)^([a-z0-9_]+)(\\{.*})? (?=\\S+$)");

  /** A metric in a query, and the conditions on its labels. */
  private static final Pattern SELECTOR = Pattern.compile("([a-z0-9_]+)(\\{.*?})");

  private static final Pattern LABEL = Pattern.compile("(?<=[{, ])([a-z_]+)(?:=|!=)");

  /** Labels and a metric that Prometheus itself adds. */
  private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance", "up");

  /** Returns the series of a service that has created a plant, without their values. */
  private static List<MatchResult> scrape() {
    assertEquals(200, ServiceProcess.shared().create(603, "fern").statusCode());
    return SERIES.matcher(ServiceProcess.shared().metrics()).results().toList();
  }

  /** Returns a metric with its labels; the page has one row for each family of a library. */
  private static String row(MatchResult series) {
    String family = series.group(1).replaceFirst("^(cache|hikaricp|jvm|process|system)_.*", "$1_*");
    if (family.endsWith("*")) {
      return family + "[]";
    }
    Set<String> labels = groups(LABEL, series.group());
    labels.remove("le"); // the upper bound of a bucket
    return family.replaceFirst("(_bucket|_count|_sum|(?<=seconds|plants)_max)$", "") + labels;
  }

  @Test
  void documented_metrics_and_labels_are_those_that_are_scraped() {
    String page = Manifests.text(Path.of("docs", "operations.md"));
    List<String> documented =
        METRIC_ROW
            .matcher(page.replaceFirst("(?s)^.*\n## Metrics\n(.*?)\n##.*", "$1"))
            .results()
            .map(row -> row.group(1) + groups(NAME, row.group(2)))
            .sorted()
            .toList();

    assertEquals(documented, scrape().stream().map(MetricsTest::row).distinct().sorted().toList());
  }

  @Test
  void metrics_are_only_at_the_management_port_and_the_operation_and_documents_are_not() {
    ServiceProcess service = ServiceProcess.shared();
    String token = "Bearer " + ServiceProcess.token();

    // As a scraper asks; and a page of an allowed origin must not read the metrics.
    HttpRequest.Builder scrape =
        service
            .atManagement("/prometheus")
            .header("Accept", "application/openmetrics-text;version=1.0.0;q=0.6")
            .header("Origin", ServiceProcess.ORIGIN);
    HttpResponse<String> metrics = ServiceProcess.send(scrape);
    assertEquals(200, metrics.statusCode());
    assertEquals(Optional.empty(), metrics.headers().firstValue("Access-Control-Allow-Origin"));
    assertEquals(404, service.get("/prometheus", Map.of("Authorization", token)).statusCode());
    for (String path : List.of("/", "/health/unknown", "/plants", "/page")) {
      assertEquals(404, ServiceProcess.send(service.atManagement(path)).statusCode(), path);
    }
    HttpRequest.Builder create =
        ServiceProcess.createRequest(service.managementAddress())
            .POST(HttpRequest.BodyPublishers.ofString("{\"id\":602,\"name\":\"fern\"}"));
    assertEquals(404, ServiceProcess.send(create).statusCode());
    // Otherwise the id would be taken by another plant.
    assertEquals(200, service.create(602, "moss").statusCode());
  }

  @Test
  void queries_of_the_dashboard_and_the_alerts_select_what_is_served() throws IOException {
    List<String> queries = new ArrayList<>(RULES.findValuesAsText("expr"));
    new ObjectMapper()
        .readTree(Manifests.FOLDER.resolve("grafana-dashboard.json").toFile())
        .findValuesAsText("expr", queries);
    List<MatchResult> served = scrape();

    for (String query : queries) {
      List<MatchResult> selectors = SELECTOR.matcher(query).results().toList();
      assertFalse(selectors.isEmpty(), query);
      for (MatchResult selector : selectors) {
        Set<String> labels = groups(LABEL, selector.group());
        labels.removeAll(OF_PROMETHEUS);
        boolean isServed =
            served.stream()
                .filter(series -> series.group(1).equals(selector.group(1)))
                .anyMatch(series -> groups(LABEL, series.group()).containsAll(labels));
        assertTrue(isServed || OF_PROMETHEUS.contains(selector.group(1)), selector.group());
      }
    }
  }

  @Test
  void each_alert_names_a_row_of_the_runbook_and_is_documented() {
    String runbook = Manifests.runbook().replace("`", "");
    List<String> rows = new ArrayList<>();
    for (JsonNode alert : RULES.findParents("alert")) {
      String entry = alert.at("/annotations/runbook").textValue();
      String severity = alert.at("/labels/severity").textValue();
      rows.add(alert.path("alert").textValue() + " " + severity + " " + entry);
      assertTrue(runbook.contains("\n| " + entry + " | "), entry);
    }
    assertEquals(
        rows,
        ALERT_ROW
            .matcher(Manifests.text(Path.of("docs", "deployment.md")).replace("`", ""))
            .results()
            .map(row -> row.group(1) + " " + row.group(2) + " " + row.group(3))
            .toList());
  }

  @Test
  void alerts_fire_in_trouble_and_not_before(@TempDir Path folder) throws IOException {
    String promtool = Program.requireInstalled("promtool");
    Files.writeString(folder.resolve("alerts.json"), RULES.path("spec").toString());
    String test = Manifests.text(Path.of("src", "test", "resources", "alerts-test.yaml"));
    Files.writeString(folder.resolve("test.yaml"), test);

    Program.run(folder, Map.of(), promtool, "test", "rules", "test.yaml").requireSuccess();
    for (String alert : RULES.findValuesAsText("alert")) {
      assertTrue(test.contains("alertname=\"" + alert + "\""), alert);
    }
  }

  private static Set<String> groups(Pattern pattern, String text) {
    return Manifests.groups(pattern, text).collect(toCollection(TreeSet::new));
  }
}
