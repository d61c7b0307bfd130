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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The metrics match the page on operations, the dashboard and the alerts. */
class MetricsTest {

  private static final List<JsonNode> ALERTS =
      Manifests.read("kubernetes/monitoring/alerts.yaml").findParents("alert");

  /** A row of the page on operations: a metric, its labels or a dash, its unit and its meaning. */
  private static final Pattern METRIC_ROW =
      Pattern.compile("(?m)^\\| `([a-z0-9_]+\\*?)` \\| (—|(?:`[a-z]+`(?:, )?)+) \\| .* \\|$");

  /** A row of the page on deployment: an alert, its severity, and a row of the runbook. */
  private static final Pattern ALERT_ROW =
      Pattern.compile("(?m)^\\| (PlantStore[A-Za-z]+) \\| (.*?) \\| .* \\| (.*?) \\|$");

  private static final Pattern NAME = Pattern.compile("[a-z]+");

  /** A scraped series: a metric and its labels. */
  private static final Pattern SERIES = Pattern.compile("(?m)^([a-z0-9_]+)(\\{.*})? (?=\\S+$)");

  private static final Pattern LABEL = Pattern.compile("(?<=[{,])([a-z_]+)=");

  /** A metric in a query, and the conditions on its labels. */
  private static final Pattern SELECTOR = Pattern.compile("([a-z_]+)\\{([^}]*)}");

  private static final Pattern CONDITION = Pattern.compile("([a-z_]+)(=~|!=|=)(\"[^\"]*\")");

  private static final Pattern GROUPING = Pattern.compile("by \\(([a-z, ]+)\\)");

  /** A name with an underscore that is not a function, so no metric is missed. */
  private static final Pattern METRIC = Pattern.compile("(?<![a-z_$])[a-z]+_[a-z_]+(?![a-z_(])");

  /** Labels and metrics that Prometheus itself adds. */
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

  private static boolean isSelected(MatchResult series, MatchResult selector) {
    return series.group(1).equals(selector.group(1))
        && CONDITION
            .matcher(selector.group(2))
            .results()
            .filter(condition -> !OF_PROMETHEUS.contains(condition.group(1)))
            .allMatch(condition -> {
              String label = condition.group(1) + "=" + condition.group(3);
              return series.group().contains(label) != condition.group(2).equals("!=");
            });
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

  @ParameterizedTest
  @ValueSource(
      strings = {"application/openmetrics-text;version=1.0.0;q=0.6", "text/plain;q=0", "nonsense"})
  void metrics_and_health_are_served_to_each_scraper_and_probe(String accept) {
    Map.of("/prometheus", "text/plain; version=0.0.4", "/health/readiness", "application/json")
        .forEach((path, type) -> {
          HttpResponse<String> answer =
              ServiceProcess.send(
                  ServiceProcess.shared().atManagement(path).header("Accept", accept));
          assertEquals(200, answer.statusCode(), answer::body);
          assertEquals(type, answer.headers().firstValue("Content-Type").orElse(""));
        });
  }

  @Test
  void metrics_are_only_at_the_management_port_and_the_operation_and_documents_are_not() {
    ServiceProcess service = ServiceProcess.shared();
    String token = "Bearer " + ServiceProcess.token();

    assertEquals(401, service.get("/prometheus", Map.of()).statusCode());
    assertEquals(404, service.get("/prometheus", Map.of("Authorization", token)).statusCode());
    assertEquals(404, service.health("unknown").statusCode());
    for (String path : List.of("/", "/metrics", "/healthz", "/plants", "/page")) {
      HttpRequest.Builder request = service.atManagement(path);
      HttpResponse<String> answer = ServiceProcess.send(request);
      assertEquals(404, answer.statusCode(), path);
      request.header("Authorization", token);
      assertEquals(answer.body(), ServiceProcess.send(request).body(), path);
    }
    HttpRequest.Builder create =
        ServiceProcess.createRequest(service.managementAddress())
            .POST(HttpRequest.BodyPublishers.ofString("{\"id\":602,\"name\":\"fern\"}"));
    assertEquals(404, ServiceProcess.send(create).statusCode());
    // A page of an allowed origin must not read the metrics.
    HttpRequest.Builder ofPage =
        service.atManagement("/prometheus").header("Origin", ServiceProcess.ORIGIN);
    HttpResponse<String> metrics = ServiceProcess.send(ofPage);
    assertEquals(200, metrics.statusCode());
    assertEquals(Optional.empty(), metrics.headers().firstValue("Access-Control-Allow-Origin"));
    // Otherwise the id would be taken by another plant.
    assertEquals(200, service.create(602, "moss").statusCode());
  }

  @Test
  void queries_of_the_dashboard_and_the_alerts_select_and_group_what_is_served()
      throws IOException {
    List<String> queries = new ArrayList<>();
    new ObjectMapper()
        .readTree(Manifests.FOLDER.resolve("grafana-dashboard.json").toFile())
        .findValuesAsText("expr", queries);
    assertTrue(queries.size() >= 12, queries::toString);
    ALERTS.forEach(alert -> queries.add(alert.path("expr").textValue()));
    List<MatchResult> served = scrape();

    for (String query : queries) {
      Set<String> grouping = groups(NAME, String.join(" ", groups(GROUPING, query)));
      grouping.removeAll(OF_PROMETHEUS);
      List<MatchResult> selectors = SELECTOR.matcher(query).results().toList();
      assertFalse(selectors.isEmpty(), query);
      assertFalse(METRIC.matcher(SELECTOR.matcher(query).replaceAll("")).find(), query);
      for (MatchResult selector : selectors) {
        List<MatchResult> selected =
            served.stream().filter(series -> isSelected(series, selector)).toList();
        assertEquals(
            OF_PROMETHEUS.contains(selector.group(1)), selected.isEmpty(), selector.group());
        for (MatchResult series : selected) {
          assertTrue(groups(LABEL, series.group()).containsAll(grouping), query + series.group());
        }
      }
    }
  }

  @Test
  void each_alert_names_a_row_of_the_runbook_and_is_documented() {
    String runbook = Manifests.runbook().replace("`", "");
    List<String> rows = new ArrayList<>();
    for (JsonNode alert : ALERTS) {
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
    JsonNode rules = Manifests.read("kubernetes/monitoring/alerts.yaml").path("spec");
    Files.writeString(folder.resolve("alerts.json"), rules.toString());
    String test = Manifests.text(Path.of("src", "test", "resources", "alerts-test.yaml"));
    Files.writeString(folder.resolve("test.yaml"), test);

    Program.run(folder, Map.of(), promtool, "test", "rules", "test.yaml").requireSuccess();
    for (JsonNode alert : ALERTS) {
      String name = "alertname=\"" + alert.path("alert").textValue() + "\"";
      assertTrue(test.contains(name), name);
    }
  }

  private static Set<String> groups(Pattern pattern, String text) {
    return Manifests.groups(pattern, text).collect(toCollection(TreeSet::new));
  }
}
