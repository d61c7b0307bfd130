package org.plantstore.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What one thing came to in each round.
 *
 * @param values at least one
 */
record Samples(List<Double> values) {

  Samples {
    values = List.copyOf(values);
    if (values.isEmpty()) {
      throw new IllegalArgumentException("there must be at least one value");
    }
  }

  /** Answers what each round came to in one respect. */
  static <T> Samples of(List<T> rounds, ToDoubleFunction<T> respect) {
    return new Samples(rounds.stream().mapToDouble(respect).boxed().toList());
  }

  double median() {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  double min() {
    return values.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
  }

  double max() {
    return values.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
  }
}
