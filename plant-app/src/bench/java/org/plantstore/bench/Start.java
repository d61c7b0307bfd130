package org.plantstore.bench;

import java.io.IOException;
import java.util.Map;

/**
 * A start of the service, from that of its process to the answer to the first create.
 *
 * @param name names this subject in the log of the run
 * @param variant the service that is started
 */
record Start(String name, Variant variant) implements Subject {

  @Override
  public Map<Metric, Double> measure(Testbed testbed, int seconds)
      throws IOException, InterruptedException {
    try (Service service = testbed.start(variant)) {
      return Map.of(Metric.START, service.startMillis());
    }
  }
}
