package org.plantstore.bench;

/**
 * The result of a subject in a round.
 *
 * @param perSecond durable creates per second
 * @param cpuMicros processor time of the service for a create, in microseconds; NaN without a
 *     service
 * @param p99Millis the 99th percentile of the latency, in milliseconds; NaN without a service
 */
record Measurement(double perSecond, double cpuMicros, double p99Millis) {

  /** Returns the creates per second for each core of the machine, which load and database share. */
  double perCore() {
    return perSecond / Runtime.getRuntime().availableProcessors();
  }
}
