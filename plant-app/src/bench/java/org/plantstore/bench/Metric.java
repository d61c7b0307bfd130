package org.plantstore.bench;

import java.util.Locale;

/** A quantity that a measurement yields, with its unit. */
enum Metric {
  CREATES("%,.0f creates/s"),
  CREATES_PER_CORE("%,.0f creates/s for each core"),
  MEDIAN_LATENCY("median %.2f ms"),
  P99_LATENCY("p99 %.2f ms"),
  CPU("CPU %.1f ms per 1,000 creates"),
  PEAK_MEMORY("peak memory %.0f MB"),
  START("start %,.0f ms");

  private final String format;

  Metric(String format) {
    this.format = format;
  }

  String format(double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
