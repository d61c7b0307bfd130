package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Creates plants with wrk, on one thread and connections that are kept.
 *
 * @param program where it is
 */
record Wrk(Path program) {

  private static final Set<String> FAILURES =
      Set.of("refused", "unconnected", "unread", "unwritten", "late");

  /** Longer than the service lets anyone wait, so that what is late is a failure of the service. */
  private static final Duration LATE = Duration.ofSeconds(30);

  private static final double MICROS_PER_MILLI = 1e3;
  private static final double MICROS_PER_SECOND = 1e6;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Which ids are sent. */
  enum Ids {
    /** Random ones, which no plant has yet. */
    FRESH,
    /** Those of {@link TakenIds}, at random, with the content that they have. */
    TAKEN
  }

  /**
   * Sends creates, each connection one at a time without a pause.
   *
   * @throws BenchmarkException if any of them is answered otherwise than by success
   */
  Load run(Service service, String token, Ids ids, int connections, Duration time)
      throws IOException, InterruptedException {
    Duration cpuBefore = service.cpuTime();
    String output =
        Command.run(
            Map.of("TOKEN", token),
            List.of(
                program.toString(),
                "--threads",
                "1",
                "--connections",
                String.valueOf(connections),
                "--duration",
                time.toSeconds() + "s",
                "--timeout",
                LATE.toSeconds() + "s",
                "--script",
                Resource.path("create-plants.lua").toString(),
                service.address() + "/plants",
                ids == Ids.FRESH ? "fresh" : "taken",
                String.valueOf(RANDOM.nextInt(Integer.MAX_VALUE)),
                String.valueOf(TakenIds.COUNT)));
    Duration cpu = service.cpuTime().minus(cpuBefore);
    Map<String, Double> figures = figures(output);
    requireSuccess(figures, service);
    return new Load(
        (long) figure(figures, "answers"),
        figure(figures, "microseconds") / MICROS_PER_SECOND,
        figure(figures, "p50") / MICROS_PER_MILLI,
        figure(figures, "p99") / MICROS_PER_MILLI,
        figure(figures, "max") / MICROS_PER_MILLI,
        (double) cpu.toMillis());
  }

  private static Map<String, Double> figures(String output) {
    return output
        .lines()
        .filter(line -> line.startsWith("figures "))
        .flatMap(line -> Arrays.stream(line.split(" ")).skip(1))
        .map(figure -> figure.split("="))
        .collect(Collectors.toMap(pair -> pair[0], pair -> Double.valueOf(pair[1])));
  }

  private static void requireSuccess(Map<String, Double> figures, Service service) {
    String failures =
        FAILURES.stream()
            .filter(failure -> figure(figures, failure) != 0)
            .map(failure -> Math.round(figure(figures, failure)) + " " + failure)
            .sorted()
            .collect(Collectors.joining(", "));
    if (!failures.isEmpty() || figure(figures, "answers") == 0) {
      throw new BenchmarkException(
          "not every create succeeded: "
              + Math.round(figure(figures, "answers"))
              + " answers, "
              + failures
              + "; the service says: "
              + service.lastOutput());
    }
  }

  private static double figure(Map<String, Double> figures, String name) {
    Double figure = figures.get(name);
    if (figure == null) {
      throw new BenchmarkException("wrk did not say " + name + ", but " + figures);
    }
    return figure;
  }
}
