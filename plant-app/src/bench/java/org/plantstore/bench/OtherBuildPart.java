package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The service next to another build of it, under the same load in turn. Both are started by the
 * start script of this build, without an AOT cache, and have a database each on one server.
 */
final class OtherBuildPart implements Part {

  static final String NAME = "other";

  private static final int WARM_UP_TURNS = 2;

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    Path jar = laboratory.options().other();
    if (jar == null) {
      return List.of();
    }
    Laboratory beside = laboratory.of(install(laboratory, jar));
    try (Target target = laboratory.startServiceWithoutCache("service");
        Target other = beside.startServiceWithoutCache("other build")) {
      // In turn, so that the second is not still compiling when the first is ready.
      for (int turn = 1; turn <= WARM_UP_TURNS; turn++) {
        laboratory.warmUp(target, CONNECTIONS, MANY_CONNECTIONS);
        beside.warmUp(other, CONNECTIONS, MANY_CONNECTIONS);
      }
      List<Round> rounds = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        rounds.add(measure(laboratory, target, beside, other, round));
      }
      return Round.rows(rounds);
    }
  }

  /** Measures both, in the opposite order each second time: the machine may slow down meanwhile. */
  private static Round measure(
      Laboratory laboratory, Target target, Laboratory beside, Target other, int round)
      throws IOException, InterruptedException, SQLException {
    if (round % 2 == 1) {
      Load service = laboratory.createOnEmptyTable(NAME, round, target, CONNECTIONS);
      return new Round(service, beside.createOnEmptyTable(NAME, round, other, CONNECTIONS));
    }
    Load load = beside.createOnEmptyTable(NAME, round, other, CONNECTIONS);
    return new Round(laboratory.createOnEmptyTable(NAME, round, target, CONNECTIONS), load);
  }

  private static Installation install(Laboratory laboratory, Path jar)
      throws IOException, SQLException {
    Path folder = Files.createTempDirectory(laboratory.installation().target(), "benchmark-other-");
    folder.toFile().deleteOnExit();
    Installation other =
        new Installation(folder, laboratory.database().createBeside("other_build"));
    Path script = laboratory.installation().script();
    if (Files.isExecutable(script)) {
      Files.copy(script, other.script(), StandardCopyOption.COPY_ATTRIBUTES);
      other.script().toFile().deleteOnExit();
    }
    Files.createSymbolicLink(other.jar(), jar);
    other.jar().toFile().deleteOnExit();
    return other;
  }

  private record Round(Load service, Load other) {

    static List<Row> rows(List<Round> rounds) {
      return List.of(
          Row.measured(
              "creates per second ÷ the other build's",
              Unit.RATIO,
              Goal.atLeast(1.0),
              Samples.of(rounds, round -> round.service.perSecond() / round.other.perSecond())),
          Row.measured(
              "CPU per 1,000 creates ÷ the other build's",
              Unit.RATIO,
              Goal.atMost(0.9),
              Samples.of(
                  rounds,
                  round ->
                      round.service.cpuMillisPerThousand() / round.other.cpuMillisPerThousand())),
          Row.information(
              "p99 ÷ the other build's",
              Unit.RATIO,
              Samples.of(rounds, round -> round.service.p99Millis() / round.other.p99Millis())),
          Row.information(
              "CPU per 1,000 creates",
              Unit.MILLISECONDS,
              Samples.of(rounds, round -> round.service.cpuMillisPerThousand())));
    }
  }
}
