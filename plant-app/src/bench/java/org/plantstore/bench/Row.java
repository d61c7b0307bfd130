package org.plantstore.bench;

import org.jspecify.annotations.Nullable;

/**
 * A row of the result.
 *
 * @param what what was measured
 * @param unit what its values are counted in
 * @param bar what the median must reach, or null if it is for information
 * @param samples the values, or null if it was not measured
 * @param reason why it was not measured, or null if it was
 */
record Row(
    String what, Unit unit, @Nullable Bar bar, @Nullable Samples samples, @Nullable String reason) {

  static Row measured(String what, Unit unit, Bar bar, Samples samples) {
    return new Row(what, unit, bar, samples, null);
  }

  static Row information(String what, Unit unit, Samples samples) {
    return new Row(what, unit, null, samples, null);
  }

  static Row notMeasured(String what, Unit unit, Bar bar, String reason) {
    return new Row(what, unit, bar, null, reason);
  }

  String verdict() {
    if (samples == null) {
      return "not measured: " + reason;
    }
    if (bar == null) {
      return "";
    }
    return bar.isMetBy(samples.median()) ? "met" : "missed";
  }
}
