package org.plantstore.app;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The metrics as a Prometheus reads them, held against the page on operations. */
class MetricsTest {

  private static final Path PAGE = Path.of("docs", "operations.md");

  /** A row of the table: a metric, its labels or a dash, its unit and its meaning. */
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([a-z0-9_]+\\*?)` \\| (—|(?:`[a-z]+`(?:, )?)+) \\| .* \\|$");

  private static final Pattern FAMILY = Pattern.compile("(?m)^# TYPE ([a-z0-9_]+) ([a-z]+)$");
  private static final Pattern SAMPLE =
      Pattern.compile("(?m)^([a-z0-9_]+?)(?:_bucket|_count|_sum)?(?:\\{(.*)})? [-+0-9.eEaInfN]+$");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"(?:[^\"\\\\]|\\\\.)*\"");

  @RegisterExtension static final RunningService RUNNING = new RunningService();

  @Test
  void documented_metrics_are_those_that_are_scraped() throws IOException {
    String scraped = RUNNING.service().metrics().body();
    Set<String> documented = documented().keySet();
    Set<String> families =
        FAMILY
            .matcher(scraped)
            .results()
            .map(family -> family.group(1))
            .collect(toCollection(TreeSet::new));

    assertEquals(
        Set.of(),
        remaining(families, family -> documented.stream().anyMatch(row -> covers(row, family))),
        "metrics that the page does not have");
    assertEquals(
        Set.of(),
        remaining(documented, row -> families.stream().anyMatch(family -> covers(row, family))),
        "metrics that only the page has");
  }

  @Test
  void documented_labels_are_those_that_are_scraped() throws IOException {
    Map<String, Set<Set<String>>> scraped =
        SAMPLE
            .matcher(RUNNING.service().metrics().body())
            .results()
            .collect(
                groupingBy(
                    sample -> sample.group(1),
                    TreeMap::new,
                    mapping(MetricsTest::labelsOf, toSet())));

    documented()
        .forEach((name, labels) -> {
          if (!name.endsWith("*")) {
            assertEquals(Set.of(labels), scraped.get(name), "labels of " + name);
          }
        });
  }

  @Test
  void requests_are_counted_by_outcome_and_error_and_probes_are_not() {
    double createdBefore =
        sample("plant_store_requests_seconds_count{error=\"none\",outcome=\"created\"}");
    double takenBefore =
        sample("plant_store_requests_seconds_count{error=\"3001\",outcome=\"refused\"}");
    double allBefore = allRequests();

    RUNNING.service().create("{\"id\":1,\"name\":\"fern\"}");
    RUNNING.service().create("{\"id\":1,\"name\":\"fern\"}");
    RUNNING.service().create("{\"id\":1,\"name\":\"moss\"}");
    RUNNING.service().health("readiness");

    assertEquals(
        2,
        sample("plant_store_requests_seconds_count{error=\"none\",outcome=\"created\"}")
            - createdBefore);
    assertEquals(
        1,
        sample("plant_store_requests_seconds_count{error=\"3001\",outcome=\"refused\"}")
            - takenBefore);
    assertTrue(
        sample(
                "plant_store_requests_seconds_bucket{error=\"none\",outcome=\"created\",le=\"+Inf\"}")
            >= 2);
    assertTrue(sample("plant_store_commit_seconds_count{outcome=\"stored\"}") >= 3);
    assertTrue(sample("plant_store_batch_plants_sum") >= 3);
    assertTrue(sample("plant_store_queue_wait_seconds_count") >= 3);
    // The three and, if it was the first to need it, the fetching of the document.
    double all = allRequests() - allBefore;
    assertTrue(all == 3 || all == 4, "requests: " + all);
  }

  @Test
  void metrics_are_at_the_management_port_alone() {
    assertEquals(200, RUNNING.service().metrics().statusCode());
    HttpResponse<String> stranger = RUNNING.service().get("/prometheus", Map.of());
    HttpResponse<String> caller =
        RUNNING
            .service()
            .get("/prometheus", Map.of("Authorization", "Bearer " + ServiceProcess.token()));

    assertEquals(401, stranger.statusCode());
    assertEquals(404, caller.statusCode());
    for (HttpResponse<String> answer : Set.of(stranger, caller)) {
      assertFalse(answer.body().contains("plant_store"), answer.body());
      assertTrue(answer.headers().firstValue("X-Request-Id").isPresent());
    }
    assertEquals(1, RUNNING.service().metrics().headers().allValues("X-Request-Id").size());
  }

  @Test
  void operation_is_not_at_the_management_port() {
    assertEquals(
        404, RUNNING.service().createAtManagementPort("{\"id\":2,\"name\":\"fern\"}").statusCode());
    // Otherwise the id would be taken by another plant.
    assertEquals(200, RUNNING.service().create("{\"id\":2,\"name\":\"moss\"}").statusCode());
  }

  private static double allRequests() {
    return Pattern.compile("(?m)^plant_store_requests_seconds_count\\{.*} (.*)$")
        .matcher(RUNNING.service().metrics().body())
        .results()
        .mapToDouble(sample -> Double.parseDouble(sample.group(1)))
        .sum();
  }

  private static double sample(String series) {
    return RUNNING
        .service()
        .metrics()
        .body()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("there is no " + series));
  }

  /** Answers the names of the page's table, a final asterisk for the rest of a name, and labels. */
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

  private static Set<String> remaining(Set<String> names, Predicate<String> isCovered) {
    return names.stream().filter(isCovered.negate()).collect(toCollection(TreeSet::new));
  }
}
