package org.plantstore.bench;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A row of the result: a metric of a subject, or its ratio to that of a baseline.
 *
 * @param what the name
 * @param goal the value that the median must reach, or null if there is none
 * @param metric the metric
 * @param subject the subject
 * @param baseline the baseline of the same round, or null if the figure is absolute
 */
record Figure(
    String what, @Nullable Goal goal, Metric metric, Subject subject, @Nullable Subject baseline) {

  /** Returns a figure that compares a subject with a baseline. */
  static Figure ratio(String what, @Nullable Goal goal, Metric metric, Subject of, Subject to) {
    return new Figure(what, goal, metric, of, to);
  }

  /** Returns an absolute figure of a subject. */
  static Figure absolute(String what, @Nullable Goal goal, Metric metric, Subject subject) {
    return new Figure(what, goal, metric, subject, null);
  }

  /**
   * A value to reach.
   *
   * @param isMinimum whether larger values are better
   * @param limit the goal
   */
  record Goal(boolean isMinimum, double limit) {

    static Goal atLeast(double limit) {
      return new Goal(true, limit);
    }

    static Goal atMost(double limit) {
      return new Goal(false, limit);
    }

    String verdict(double value) {
      return (isMinimum ? value >= limit : value <= limit) ? "met" : "missed";
    }
  }

  /** Returns the subjects that must be measured, in this order. */
  Stream<Subject> subjects() {
    return baseline == null ? Stream.of(subject) : Stream.of(baseline, subject);
  }

  /**
   * Returns a row of a table: what, goal, median, spread, verdict.
   *
   * @param rounds the metrics of each subject in each round; at least one
   */
  String row(List<Map<Subject, Map<Metric, Double>>> rounds) {
    List<Double> values = rounds.stream().map(this::value).sorted().toList();
    double median = (values.get((values.size() - 1) / 2) + values.get(values.size() / 2)) / 2;
    DoubleFunction<String> format =
        baseline == null ? metric::format : value -> String.format(Locale.ROOT, "%.2f", value);
    return String.format(
        Locale.ROOT,
        "| %s | %s | %s | %s to %s | %s |",
        what,
        goal == null ? "" : (goal.isMinimum() ? "≥ " : "≤ ") + goal.limit(),
        format.apply(median),
        format.apply(values.get(0)),
        format.apply(values.get(values.size() - 1)),
        goal == null ? "" : goal.verdict(median));
  }

  private double value(Map<Subject, Map<Metric, Double>> round) {
    double value = metric(round, subject);
    return baseline == null ? value : value / metric(round, baseline);
  }

  private double metric(Map<Subject, Map<Metric, Double>> round, Subject of) {
    return Objects.requireNonNull(Objects.requireNonNull(round.get(of)).get(metric));
  }
}
