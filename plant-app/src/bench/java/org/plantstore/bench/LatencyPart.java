package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** How long a single caller waits, next to a store that does not gather inserts. */
final class LatencyPart implements Part {

  static final String NAME = "latency";

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    try (Target target = laboratory.startService("service");
        Target baseline = laboratory.startOneInsertPerRequest(target.service())) {
      laboratory.warmUp(target, CONNECTIONS, 1);
      laboratory.warmUp(baseline, CONNECTIONS, 1);
      List<Double> medians = new ArrayList<>();
      List<Double> ratios = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        double median = laboratory.createOnEmptyTable(NAME, round, target, 1).medianMillis();
        medians.add(median);
        ratios.add(median / laboratory.createOnEmptyTable(NAME, round, baseline, 1).medianMillis());
      }
      return List.of(
          Row.measured(
              "median latency at 1 connection ÷ that of one insert per request",
              Unit.RATIO,
              Goal.atMost(1.0),
              new Samples(ratios)),
          Row.information(
              "median latency at 1 connection", Unit.MILLISECONDS, new Samples(medians)));
    }
  }
}
