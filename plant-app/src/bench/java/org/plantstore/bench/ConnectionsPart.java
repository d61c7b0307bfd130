package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What many connections at once cost. */
final class ConnectionsPart implements Part {

  static final String NAME = "connections";

  private static final int CROWD = 1_024;

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    try (Target target = laboratory.startService("service")) {
      laboratory.warmUp(target, CONNECTIONS, CROWD);
      List<Double> ratios = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        double few = laboratory.createOnEmptyTable(NAME, round, target, CONNECTIONS).perSecond();
        ratios.add(laboratory.createOnEmptyTable(NAME, round, target, CROWD).perSecond() / few);
      }
      return List.of(
          Row.measured(
              "1,024 keep-alive connections ÷ 64 connections",
              Unit.RATIO,
              Goal.atLeast(0.9),
              new Samples(ratios)));
    }
  }
}
