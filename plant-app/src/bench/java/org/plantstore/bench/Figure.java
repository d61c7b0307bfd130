package org.plantstore.bench;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A row of the result table: a metric of a subject, or the ratio of that metric to the same metric
 * of a baseline.
 *
 * @param what the name of the figure
 * @param metric the metric, which is computed from a measurement
 * @param subject the subject whose metric is reported
 * @param baseline the subject to compare with, measured in the same round, or null if the figure is
 *     not a ratio
 */
record Figure(
    String what,
    ToDoubleFunction<Measurement> metric,
    Subject subject,
    @Nullable Subject baseline) {

  /** Returns the subjects that must be measured for this figure. */
  Stream<Subject> subjects() {
    return baseline == null ? Stream.of(subject) : Stream.of(baseline, subject);
  }

  /**
   * Returns a table row that contains the name, the median, and the minimum and maximum.
   *
   * @param rounds the results of all subjects in each round; at least one round
   */
  String row(List<Map<Subject, Measurement>> rounds) {
    Spread spread = spread(rounds);
    String range = format(spread.min()) + " to " + format(spread.max());
    return "| " + what + " | " + format(spread.median()) + " | " + range + " |";
  }

  /** Returns the spread of this figure, which is NaN if the metric was not measured. */
  Spread spread(List<Map<Subject, Measurement>> rounds) {
    double[] values = rounds.stream().mapToDouble(this::value).sorted().toArray();
    double median = (values[(values.length - 1) / 2] + values[values.length / 2]) / 2;
    return new Spread(values[0], median, values[values.length - 1]);
  }

  private double value(Map<Subject, Measurement> round) {
    double value = metric(round, subject);
    return baseline == null ? value : value / metric(round, baseline);
  }

  private double metric(Map<Subject, Measurement> round, Subject of) {
    return metric.applyAsDouble(Objects.requireNonNull(round.get(of)));
  }

  private static String format(double value) {
    return String.format(Locale.ROOT, value < 1_000 ? "%.2f" : "%,.0f", value);
  }

  /** The smallest value, the median, and the largest value of all rounds. */
  record Spread(double min, double median, double max) {}
}
