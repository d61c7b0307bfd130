package org.plantstore.app;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The metrics as a Prometheus reads them, held against the page on operations and the dashboard.
 */
class MetricsTest {

  private static final Path PAGE = Path.of("docs", "operations.md");

  /** A row of the table: a metric, its labels or a dash, its unit and its meaning. */
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([a-z0-9_]+\\*?)` \\| (—|(?:`[a-z]+`(?:, )?)+) \\| .* \\|$");

  /** A metric without the suffix of its part, and its labels. */
  private static final Pattern SAMPLE =
      Pattern.compile(
          "(?m)^([a-z0-9_]+?)(?:_bucket|_count|_sum|(?<=seconds|plants)_max)?(?:\\{(.*)})? \\S+$");

  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?:=\"(?:[^\"\\\\]|\\\\.)*\")?");

  @Test
  void documented_metrics_and_labels_are_those_that_are_scraped() throws IOException {
    String section = Files.readString(PAGE).replaceFirst("(?s)^.*\n## Metrics\n(.*?)\n##.*", "$1");
    List<String> documented =
        ROW.matcher(section)
            .results()
            .map(row -> row.group(1) + labels(row.group(2)))
            .sorted()
            .toList();

    String scraped = ServiceProcess.shared().metrics();
    assertEquals(
        documented,
        SAMPLE.matcher(scraped).results().map(MetricsTest::name).distinct().sorted().toList());
  }

  @Test
  void metrics_are_at_the_management_port_alone_and_the_operation_is_not() {
    ServiceProcess service = ServiceProcess.shared();
    Map<String, String> token = Map.of("Authorization", "Bearer " + ServiceProcess.token());

    assertEquals(401, service.get("/prometheus", Map.of()).statusCode());
    assertEquals(404, service.get("/prometheus", token).statusCode());
    HttpRequest.Builder create =
        ServiceProcess.createRequest(service.managementAddress())
            .POST(HttpRequest.BodyPublishers.ofString("{\"id\":602,\"name\":\"fern\"}"));
    assertEquals(404, ServiceProcess.send(create).statusCode());
    // Otherwise the id would be taken by another plant.
    assertEquals(200, service.create(602, "moss").statusCode());
  }

  @Test
  void queries_of_the_dashboard_select_and_group_what_is_served() throws IOException {
    List<String> queries =
        new ObjectMapper()
            .readTree(Manifests.FOLDER.resolve("grafana-dashboard.json").toFile())
            .findValuesAsText("expr");

    assertTrue(queries.size() >= 12, queries::toString);
    PrometheusQueries.assertServed(queries);
  }

  /** Returns the metric with its labels; the page has one row for each family of the JVM. */
  private static String name(MatchResult sample) {
    String metric = sample.group(1);
    String family = metric.replaceFirst("^(jvm|process|system)_.*", "$1_*");
    return family.equals(metric) ? metric + labels(sample.group(2)) : family + "[]";
  }

  private static String labels(@Nullable String text) {
    return LABEL
        .matcher(Objects.requireNonNullElse(text, ""))
        .results()
        .map(label -> label.group(1))
        .filter(label -> !label.equals("le")) // the upper bound of a bucket
        .sorted()
        .collect(joining(" ", "[", "]"));
  }
}
