package org.plantstore.bench;

/**
 * The result of measuring one subject in one round.
 *
 * @param perSecond the number of durably created plants per second
 * @param cpuMicros the service's CPU time per create request, in microseconds, or NaN if there is
 *     no service
 * @param p99Millis the 99th percentile of the latency, in milliseconds, or NaN if there is no
 *     service
 */
record Measurement(double perSecond, double cpuMicros, double p99Millis) {

  /**
   * Returns the number of plants created per second per core. The service, the load generator, and
   * the database share the machine's cores.
   */
  double perCore() {
    return perSecond / Runtime.getRuntime().availableProcessors();
  }
}
