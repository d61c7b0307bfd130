package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * Creates over HTTP by wrk, on one thread and keep-alive connections, each of which sends one
 * request after the other.
 *
 * @param name names this subject in the log of the run
 * @param variant the service that is called
 * @param algorithm the signature of the token
 * @param connections the number of connections
 * @param table the table that the service finds
 */
record Requests(String name, Variant variant, Algorithm algorithm, int connections, Table table)
    implements Subject {

  private static final Set<String> FAILURES =
      Set.of("refused", "unconnected", "unread", "unwritten", "late");
  private static final double MICROS_PER_MILLI = 1e3;
  private static final double MICROS_PER_SECOND = 1e6;

  @Override
  public Map<Metric, Double> measure(Testbed testbed, int seconds)
      throws IOException, InterruptedException, SQLException {
    Service service = testbed.service(variant);
    Database database = testbed.database(variant);
    database.prepare(table);
    long plantsBefore = database.plants();
    double cpuBefore = service.cpuMillis();
    Map<String, Double> result = wrk(service, testbed.token(algorithm), seconds);
    double cpuMillis = service.cpuMillis() - cpuBefore;
    double creates = figure(result, "answers");
    database.awaitQuiet();
    requireStored(creates, database.plants() - plantsBefore);
    database.release(table);
    double perSecond = creates * MICROS_PER_SECOND / figure(result, "microseconds");
    return Map.of(
        Metric.CREATES, perSecond,
        Metric.CREATES_PER_CORE, perSecond / Runtime.getRuntime().availableProcessors(),
        Metric.MEDIAN_LATENCY, figure(result, "p50") / MICROS_PER_MILLI,
        Metric.P99_LATENCY, figure(result, "p99") / MICROS_PER_MILLI,
        Metric.CPU, cpuMillis * 1_000 / creates,
        Metric.PEAK_MEMORY, service.peakMegabytes());
  }

  /** The time-out is longer than the service lets a caller wait, so a late answer is a failure. */
  private Map<String, Double> wrk(Service service, String token, int seconds)
      throws IOException, InterruptedException {
    String output =
        Program.find("wrk")
            .run(
                Map.of("TOKEN", token),
                String.format(
                    Locale.ROOT,
                    "--threads 1 --connections %d --duration %ds --timeout 30s",
                    connections,
                    seconds),
                "--script",
                Program.resource("create-plants.lua").toString(),
                service.address(),
                table == Table.TAKEN ? "taken" : "fresh",
                String.valueOf(ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE)),
                String.valueOf(Table.TAKEN_IDS));
    Map<String, Double> result =
        output
            .lines()
            .filter(line -> line.startsWith("figures "))
            .flatMap(line -> Arrays.stream(line.split(" ")).skip(1))
            .map(figure -> figure.split("="))
            .collect(Collectors.toMap(pair -> pair[0], pair -> Double.valueOf(pair[1])));
    if (FAILURES.stream().anyMatch(failure -> figure(result, failure) > 0)) {
      throw new BenchmarkException(
          "not every create succeeded: " + result + "; the service logs: " + service.lastOutput());
    }
    return result;
  }

  private static double figure(Map<String, Double> result, String name) {
    Double figure = result.get(name);
    if (figure == null) {
      throw new BenchmarkException("the output of wrk has no " + name + ", but " + result);
    }
    return figure;
  }

  /** Creates that are in flight at the end are stored, although wrk does not see their answers. */
  private void requireStored(double creates, long stored) {
    boolean storesNothing = table == Table.TAKEN || variant == Variant.ECHO;
    double expected = storesNothing ? 0 : creates;
    double atMost = storesNothing ? 0 : creates + connections;
    if (stored < expected || stored > atMost) {
      throw new BenchmarkException(
          name + ": expected " + expected + " stored plants, but there are " + stored);
    }
  }
}
