package org.plantstore.bench;

import org.jspecify.annotations.Nullable;

/**
 * A row of the result.
 *
 * @param what what was measured
 * @param unit what its values are counted in
 * @param goal what the median must reach, or null if it is for information
 * @param samples the values, or null if it was not measured
 * @param reason why it was not measured, or null if it was
 */
record Row(
    String what,
    Unit unit,
    @Nullable Goal goal,
    @Nullable Samples samples,
    @Nullable String reason) {

  static Row measured(String what, Unit unit, Goal goal, Samples samples) {
    return new Row(what, unit, goal, samples, null);
  }

  static Row information(String what, Unit unit, Samples samples) {
    return new Row(what, unit, null, samples, null);
  }

  static Row notMeasured(String what, Unit unit, Goal goal, String reason) {
    return new Row(what, unit, goal, null, reason);
  }

  String verdict() {
    if (samples == null) {
      return "not measured: " + reason;
    }
    if (goal == null) {
      return "";
    }
    return goal.isMetBy(samples.median()) ? "met" : "missed";
  }
}
