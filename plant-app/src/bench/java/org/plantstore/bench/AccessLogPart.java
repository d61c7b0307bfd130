package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What a line for each request costs, written to a file. */
final class AccessLogPart implements Part {

  static final String NAME = "access-log";

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    try (Target without = laboratory.startService("access log off");
        Target with = laboratory.startServiceWithAccessLog("access log on")) {
      laboratory.warmUp(without, CONNECTIONS);
      laboratory.warmUp(with, CONNECTIONS);
      List<Double> ratios = new ArrayList<>();
      List<Double> cpuMillis = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        Load off = laboratory.createOnEmptyTable(NAME, round, without, CONNECTIONS);
        Load on = laboratory.createOnEmptyTable(NAME, round, with, CONNECTIONS);
        ratios.add(on.perSecond() / off.perSecond());
        cpuMillis.add(on.cpuMillisPerThousand() - off.cpuMillisPerThousand());
      }
      return List.of(
          Row.information(
              "creates per second with the access log ÷ without", Unit.RATIO, new Samples(ratios)),
          Row.information(
              "process CPU of the access log per 1,000 creates",
              Unit.MILLISECONDS,
              new Samples(cpuMillis)));
    }
  }
}
