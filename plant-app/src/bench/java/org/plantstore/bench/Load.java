package org.plantstore.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a round of creates came to. All of them were answered with 200.
 *
 * @param creates how many were answered
 * @param seconds how long the round took
 * @param medianMillis the median of their latencies
 * @param p99Millis the latency that one in a hundred exceeds
 * @param maxMillis the longest latency
 * @param cpuMillis the processor time that the service took
 */
record Load(
    long creates,
    double seconds,
    double medianMillis,
    double p99Millis,
    double maxMillis,
    double cpuMillis) {

  double perSecond() {
    return creates / seconds;
  }

  double cpuMillisPerThousand() {
    return cpuMillis * 1_000 / creates;
  }

  Map<String, Object> figures() {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("creates", creates);
    figures.put("seconds", seconds);
    figures.put("creates_per_second", perSecond());
    figures.put("median_ms", medianMillis);
    figures.put("p99_ms", p99Millis);
    figures.put("max_ms", maxMillis);
    figures.put("cpu_ms_per_1000_creates", cpuMillisPerThousand());
    return figures;
  }
}
