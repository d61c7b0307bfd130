package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The service under full load: what it creates, next to what PostgreSQL inserts without it, and
 * what it takes.
 */
final class CreatesPart implements Part {

  static final String NAME = "creates";

  private static final int[] PGBENCH_CLIENTS = {16, 32};
  private static final double BYTES_PER_MEGABYTE = 1e6;
  private static final Goal MEMORY = Goal.atMost(300);
  private static final String MEMORY_OF = "peak memory of the process under that load";

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    try (Target target = laboratory.startService("service");
        Target baseline = laboratory.startOneInsertPerRequest(target.service())) {
      laboratory.warmUp(target, CONNECTIONS, MANY_CONNECTIONS);
      laboratory.warmUp(baseline, CONNECTIONS, MANY_CONNECTIONS);
      List<Round> rounds = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        rounds.add(
            new Round(
                inserts(laboratory, round),
                laboratory.createOnEmptyTable(NAME, round, target, CONNECTIONS),
                laboratory.createOnEmptyTable(NAME, round, baseline, CONNECTIONS)));
      }
      List<Row> rows = new ArrayList<>(Round.rows(rounds));
      rows.add(memory(laboratory, target.service()));
      return rows;
    }
  }

  private static double inserts(Laboratory laboratory, int round)
      throws IOException, InterruptedException, SQLException {
    double best = 0;
    for (int clients : PGBENCH_CLIENTS) {
      best = Math.max(best, laboratory.insert(NAME, round, clients));
    }
    return best;
  }

  private static Row memory(Laboratory laboratory, Service service) throws IOException {
    if (!Service.knowsPeakMemory()) {
      return Row.notMeasured(
          MEMORY_OF, Unit.MEGABYTES, MEMORY, "this system does not tell it, Linux would");
    }
    double megabytes = service.peakMemoryBytes() / BYTES_PER_MEGABYTE;
    laboratory
        .journal()
        .add(
            NAME,
            laboratory.options().rounds(),
            "service, peak memory",
            Map.of("megabytes", megabytes));
    return Row.measured(MEMORY_OF, Unit.MEGABYTES, MEMORY, new Samples(List.of(megabytes)));
  }

  /**
   * What is compared, measured one after the other.
   *
   * @param inserts of pgbench per second
   * @param service load on the service
   * @param baseline load on the service with one insert per request
   */
  private record Round(double inserts, Load service, Load baseline) {

    static List<Row> rows(List<Round> rounds) {
      return List.of(
          Row.measured(
              "creates per second at 64 connections ÷ pgbench single-row",
              Unit.RATIO,
              Goal.atLeast(2.0),
              Samples.of(rounds, round -> round.service.perSecond() / round.inserts)),
          Row.measured(
              "p99 at 64 connections, full load",
              Unit.MILLISECONDS,
              Goal.atMost(10),
              Samples.of(rounds, round -> round.service.p99Millis())),
          Row.measured(
              "process CPU per 1,000 creates",
              Unit.MILLISECONDS,
              Goal.atMost(30),
              Samples.of(rounds, round -> round.service.cpuMillisPerThousand())),
          Row.information(
              "creates per second at 64 connections",
              Unit.PER_SECOND,
              Samples.of(rounds, round -> round.service.perSecond())),
          Row.information(
              "pgbench single-row, best of 16 and 32 clients",
              Unit.PER_SECOND,
              Samples.of(rounds, Round::inserts)),
          Row.information(
              "one insert per request: creates per second ÷ pgbench single-row",
              Unit.RATIO,
              Samples.of(rounds, round -> round.baseline.perSecond() / round.inserts)));
    }
  }
}
