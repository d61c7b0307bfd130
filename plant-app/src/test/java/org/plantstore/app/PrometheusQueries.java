package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks queries to Prometheus against the metrics that the service serves. */
final class PrometheusQueries {

  /** A metric, and the conditions on its labels. */
  private static final Pattern SELECTOR = Pattern.compile("([a-z_]+)\\{([^}]*)}");

  /** A name with an underscore that is not a function, so no metric is missed. */
  private static final Pattern METRIC = Pattern.compile("(?<![a-z_$])[a-z]+_[a-z_]+(?![a-z_(])");

  /** A label, the comparison, and the value. */
  private static final Pattern CONDITION = Pattern.compile("([a-z]+)(=~|!=|=)\"([^\"]*)\"");

  private static final Pattern GROUPING = Pattern.compile("by \\(([a-z, ]+)\\)");

  /** Labels and metrics that Prometheus itself adds. */
  private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance", "up");

  private PrometheusQueries() {}

  /** A scraped line. */
  private record Sample(String metric, Map<String, String> labels) {

    static Sample of(String line) {
      String series = line.replaceFirst(" [^ ]+$", "");
      return new Sample(series.replaceFirst("\\{.*", ""), Sample.labels(series));
    }

    private static Map<String, String> labels(String series) {
      return CONDITION
          .matcher(series)
          .results()
          .collect(Collectors.toMap(label -> label.group(1), label -> label.group(3)));
    }

    boolean isSelectedBy(MatchResult selector) {
      return metric.equals(selector.group(1))
          && CONDITION
              .matcher(selector.group(2))
              .results()
              .filter(condition -> !OF_PROMETHEUS.contains(condition.group(1)))
              .allMatch(this::fulfils);
    }

    private boolean fulfils(MatchResult condition) {
      boolean isEqual = condition.group(3).equals(labels.get(condition.group(1)));
      return isEqual != condition.group(2).equals("!=");
    }
  }

  /** Fails unless each query selects served metrics, and groups them by their labels. */
  static void assertServed(List<String> queries) {
    ServiceProcess service = ServiceProcess.shared();
    assertEquals(200, service.create(603, "fern").statusCode());
    List<Sample> served =
        service.metrics().lines().filter(line -> !line.startsWith("#")).map(Sample::of).toList();

    for (String query : queries) {
      Set<String> grouping =
          GROUPING
              .matcher(query)
              .results()
              .flatMap(labels -> Stream.of(labels.group(1).split(", ", -1)))
              .filter(label -> !OF_PROMETHEUS.contains(label))
              .collect(Collectors.toSet());
      List<MatchResult> selectors = SELECTOR.matcher(query).results().toList();
      assertFalse(selectors.isEmpty(), query);
      assertFalse(METRIC.matcher(SELECTOR.matcher(query).replaceAll("")).find(), query);
      for (MatchResult selector : selectors) {
        if (OF_PROMETHEUS.contains(selector.group(1))) {
          continue;
        }
        List<Sample> selected =
            served.stream().filter(sample -> sample.isSelectedBy(selector)).toList();
        assertFalse(selected.isEmpty(), selector.group() + " is not served");
        for (Sample sample : selected) {
          assertTrue(sample.labels().keySet().containsAll(grouping), () -> query + " of " + sample);
        }
      }
    }
  }
}
