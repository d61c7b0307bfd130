package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a table that has many plants already costs. */
final class RowsPart implements Part {

  static final String NAME = "rows";

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    String rows = String.format(Locale.ROOT, "%,d", laboratory.options().rows());
    try (Target target = laboratory.startService("service")) {
      laboratory.warmUp(target, CONNECTIONS, MANY_CONNECTIONS);
      laboratory.journal().tell("  loading a table of " + rows + " rows");
      LargeTable large = LargeTable.load(laboratory.database(), laboratory.options().rows());
      Target onLarge = new Target("service on " + rows + " rows", target.service(), target.token());
      List<Double> ratios = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        double onEmpty =
            laboratory.createOnEmptyTable(NAME, round, target, CONNECTIONS).perSecond();
        large.use();
        ratios.add(laboratory.create(NAME, round, onLarge, CONNECTIONS).perSecond() / onEmpty);
        large.leave();
      }
      large.drop();
      return List.of(
          Row.measured(
              "table of " + rows + " rows, random ids ÷ empty table",
              Unit.RATIO,
              Goal.atLeast(0.8),
              new Samples(ratios)));
    }
  }
}
