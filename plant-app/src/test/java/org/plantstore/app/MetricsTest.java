package org.plantstore.app;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The metrics as a Prometheus reads them, held against the page on operations. */
class MetricsTest {

  private static final Path PAGE = Path.of("docs", "operations.md");

  /** A row of the table: a metric, its labels or a dash, its unit and its meaning. */
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([a-z0-9_]+\\*?)` \\| (—|(?:`[a-z]+`(?:, )?)+) \\| .* \\|$");

  private static final Pattern SAMPLE =
      Pattern.compile("(?m)^([a-z0-9_]+?)(?:_bucket|_count|_sum)?(?:\\{(.*)})? [-+0-9.eEaInfN]+$");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"(?:[^\"\\\\]|\\\\.)*\"");

  @Test
  void documented_metrics_and_labels_are_those_that_are_scraped() throws Exception {
    Map<String, Set<String>> documented = documented();
    Map<String, Set<Set<String>>> scraped =
        SAMPLE
            .matcher(ServiceProcess.shared().metrics())
            .results()
            .collect(
                groupingBy(
                    sample -> sample.group(1),
                    TreeMap::new,
                    mapping(MetricsTest::labelsOf, toSet())));
    Set<String> undocumented = new TreeSet<>(scraped.keySet());
    undocumented.removeIf(name -> documented.keySet().stream().anyMatch(row -> covers(row, name)));

    assertEquals(Set.of(), undocumented, "metrics that the page does not have");
    documented.forEach((row, labels) -> {
      if (row.endsWith("*")) {
        assertTrue(scraped.keySet().stream().anyMatch(name -> covers(row, name)), row);
      } else {
        assertEquals(Set.of(labels), scraped.get(row), "labels of " + row);
      }
    });
  }

  @Test
  void metrics_are_at_the_management_port_alone_and_the_operation_is_not() {
    ServiceProcess service = ServiceProcess.shared();
    Map<String, String> token = Map.of("Authorization", "Bearer " + ServiceProcess.token());

    assertEquals(401, service.get("/prometheus", Map.of()).statusCode());
    assertEquals(404, service.get("/prometheus", token).statusCode());
    HttpRequest.Builder create =
        ServiceProcess.createRequest(service.managementAddress(), ServiceProcess.token())
            .POST(HttpRequest.BodyPublishers.ofString("{\"id\":602,\"name\":\"fern\"}"));
    assertEquals(404, ServiceProcess.send(create).statusCode());
    // Otherwise the id would be taken by another plant.
    assertEquals(200, service.create(602, "moss").statusCode());
  }

  /** Returns the labels of each name in the page's table; a final asterisk stands for any end. */
  private static Map<String, Set<String>> documented() throws IOException {
    String section =
        Files.readString(PAGE)
            .replaceFirst("(?s)^.*?\n## Metrics\n", "")
            .replaceFirst("(?s)\n##.*", "");
    return ROW.matcher(section)
        .results()
        .collect(
            toMap(
                row -> row.group(1),
                row ->
                    Stream.of(row.group(2).split(", "))
                        .filter(label -> !label.equals("—"))
                        .map(label -> label.replace("`", ""))
                        .collect(toCollection(TreeSet::new)),
                (first, second) -> {
                  throw new AssertionError("a metric has two rows: " + first + second);
                },
                TreeMap::new));
  }

  private static boolean covers(String row, String family) {
    return row.endsWith("*")
        ? family.startsWith(row.substring(0, row.length() - 1))
        : family.equals(row) || family.equals(row + "_max");
  }

  private static Set<String> labelsOf(MatchResult sample) {
    Set<String> labels =
        LABEL
            .matcher(Objects.requireNonNullElse(sample.group(2), ""))
            .results()
            .map(label -> label.group(1))
            .collect(toCollection(TreeSet::new));
    labels.remove("le"); // the upper bound of a bucket
    return labels;
  }
}
