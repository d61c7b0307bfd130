package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What it costs when every create is a retry of one that was stored. */
final class RetriesPart implements Part {

  static final String NAME = "retries";

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    try (Target target = laboratory.startService("service")) {
      Target retries = new Target("service, retries", target.service(), target.token());
      laboratory.warmUp(target, CONNECTIONS);
      TakenIds.fill(laboratory.database());
      laboratory.warmUpByRepeating(retries, CONNECTIONS);
      List<Double> ratios = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        double fresh = laboratory.createOnEmptyTable(NAME, round, target, CONNECTIONS).perSecond();
        TakenIds.fill(laboratory.database());
        ratios.add(laboratory.repeat(NAME, round, retries, CONNECTIONS).perSecond() / fresh);
      }
      return List.of(
          Row.measured(
              "all ids taken with equal content (retries) ÷ fresh ids",
              Unit.RATIO,
              Goal.atLeast(0.8),
              new Samples(ratios)));
    }
  }
}
