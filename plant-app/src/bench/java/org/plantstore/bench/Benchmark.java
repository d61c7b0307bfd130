package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Measures the packaged service and prints a table of the figures of each {@link Part}. A missed
 * goal is a result; only a wrong figure is a failure.
 */
public final class Benchmark {

  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Path LOG = TARGET.resolve("benchmark.txt");
  private static final Path AOT_CACHE = TARGET.resolve("plant-app.aot");
  private static final String START = "start";

  /**
   * Subjects are warmed up in two turns, so that the last one is compiled before its measurement.
   */
  private static final int WARM_UP_TURNS = 2;

  private static final int ROUNDS = option("bench.rounds");
  private static final int SECONDS = option("bench.seconds");
  private static final int WARM_UP_SECONDS = option("bench.warmup");
  private static final int STARTS = option("bench.starts");

  private Benchmark() {}

  /**
   * Runs in the folder of plant-app.
   *
   * @param arguments none; options are system properties, with defaults in the POM
   */
  public static void main(String... arguments)
      throws IOException, InterruptedException, SQLException {
    endWithMaven();
    try (Testbed testbed = new Testbed(TARGET, LOG, option("bench.rows"))) {
      describe(testbed);
      List<String> rows = new ArrayList<>();
      for (Part part : parts(testbed)) {
        rows.addAll(measure(part, testbed));
      }
      testbed.log("\n| what | goal | median | min to max | verdict |");
      testbed.log("| --- | --- | --- | --- | --- |");
      testbed.log(String.join("\n", rows));
    } catch (BenchmarkException e) {
      System.err.println("The benchmark has failed: " + e.getMessage());
      System.exit(1);
    }
  }

  /** A Maven that is ended by a signal leaves its children running. */
  @SuppressWarnings("FutureReturnValueIgnored") // the end of Maven needs no handling
  private static void endWithMaven() {
    ProcessHandle.current()
        .parent()
        .ifPresent(parent -> parent.onExit().thenRun(() -> System.exit(1)));
  }

  private static int option(String name) {
    int value = Integer.getInteger(name, 0);
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be a whole number of at least 1");
    }
    return value;
  }

  /** Returns the chosen parts that can be measured here. */
  private static List<Part> parts(Testbed testbed) throws IOException {
    List<String> chosen =
        new ArrayList<>(List.of(System.getProperty("bench.parts", "").strip().split("\\s*,\\s*")));
    List<String> known = Part.ALL.stream().map(Part::name).toList();
    if (!known.containsAll(chosen)) {
      throw new BenchmarkException("bench.parts must be some of " + known + ", but is " + chosen);
    }
    String other = System.getProperty("bench.other", "");
    if (other.isEmpty() && chosen.remove("other")) {
      testbed.log("other: not measured, bench.other is not set");
    } else if (chosen.contains("other") && !Files.isRegularFile(Path.of(other))) {
      throw new BenchmarkException("bench.other must be a jar, but is " + other);
    }
    if (System.getProperty("bench.database", "").isEmpty() && chosen.remove("database")) {
      testbed.log("database: not measured, bench.database is not set");
    }
    if (!Files.exists(AOT_CACHE) && chosen.remove(START)) {
      testbed.log("start: not measured, there is no AOT cache; mvn -Paot,bench makes one");
    }
    return Part.ALL.stream().filter(part -> chosen.contains(part.name())).toList();
  }

  /** Measures all subjects of a part in turn, round by round, and returns the rows of its table. */
  private static List<String> measure(Part part, Testbed testbed)
      throws IOException, InterruptedException, SQLException {
    testbed.log(part.name());
    List<Subject> subjects = part.subjects();
    for (int turn = 1; turn <= WARM_UP_TURNS; turn++) {
      for (Subject subject : subjects) {
        subject.warmUp(testbed, Math.max(1, WARM_UP_SECONDS / WARM_UP_TURNS));
      }
    }
    List<Map<Subject, Map<Metric, Double>>> rounds = new ArrayList<>();
    for (int round = 1; round <= (part.name().equals(START) ? STARTS : ROUNDS); round++) {
      rounds.add(measure(subjects, round, testbed));
    }
    testbed.clear();
    return part.figures().stream().map(figure -> figure.row(rounds)).toList();
  }

  private static Map<Subject, Map<Metric, Double>> measure(
      List<Subject> subjects, int round, Testbed testbed)
      throws IOException, InterruptedException, SQLException {
    Map<Subject, Map<Metric, Double>> result = new LinkedHashMap<>();
    for (Subject subject : subjects) {
      Map<Metric, Double> metrics = subject.measure(testbed, SECONDS);
      testbed.log("  round " + round + ", " + subject.name() + ": " + describe(metrics));
      // A warm-up may pass without an answer, a measurement may not.
      if (metrics.containsValue(0.0)) {
        throw new BenchmarkException(subject.name() + " created nothing");
      }
      result.put(subject, metrics);
    }
    return result;
  }

  private static String describe(Map<Metric, Double> metrics) {
    return metrics.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(metric -> metric.getKey().format(metric.getValue()))
        .collect(Collectors.joining(", "));
  }

  /** Logs the conditions on which figures depend. */
  private static void describe(Testbed testbed)
      throws IOException, InterruptedException, SQLException {
    testbed.log("date: " + Instant.now());
    testbed.log(
        String.format(
            Locale.ROOT,
            "options: %d rounds of %d s, warm-up %d s",
            ROUNDS,
            SECONDS,
            WARM_UP_SECONDS));
    testbed.log("cores: " + Runtime.getRuntime().availableProcessors());
    for (String file : List.of("/proc/cpuinfo", "/proc/meminfo")) {
      if (Files.exists(Path.of(file))) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
          testbed.log(
              lines
                  .filter(line -> line.matches("(model name|MemTotal).*"))
                  .findFirst()
                  .orElse(file));
        }
      }
    }
    testbed.log(
        "kernel: " + System.getProperty("os.name") + " " + System.getProperty("os.version"));
    testbed.log("JDK: " + System.getProperty("java.runtime.version"));
    testbed.log("database: " + testbed.database(Variant.PACKAGED).ask("SELECT version()"));
    testbed.log("service: " + testbed.service(Variant.PACKAGED).commandLine());
  }
}
