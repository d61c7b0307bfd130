package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;

/**
 * Requests while four other callers send bodies of 1 MB with 100,000 members, one after the other,
 * all of the same plant.
 *
 * @param requests the measured requests
 */
record WithLargeBodies(Requests requests) implements Subject {

  private static final int CALLERS = 4;

  @Override
  public String name() {
    return requests.name() + " with large bodies";
  }

  @Override
  public Map<Metric, Double> measure(Testbed testbed, int seconds)
      throws IOException, InterruptedException, SQLException {
    Process others =
        Program.find("wrk")
            .start(
                Map.of("TOKEN", testbed.token(requests.algorithm())),
                String.format(
                    Locale.ROOT,
                    "--threads 1 --connections %d --duration 10m --timeout 30s --script",
                    CALLERS),
                Program.resource("create-large-plants.lua").toString(),
                testbed.service(requests.variant()).address());
    try {
      return requests.measure(testbed, seconds);
    } finally {
      Program.end(others);
    }
  }
}
