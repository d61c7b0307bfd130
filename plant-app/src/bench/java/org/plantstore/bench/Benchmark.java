package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Measures all subjects one after another in several rounds, and prints their {@link Figures}. */
public final class Benchmark {

  private static final int ROUNDS = option("bench.rounds", "5");
  private static final int SECONDS = option("bench.seconds", "10");
  private static final int WARM_UP_SECONDS = option("bench.warmup", "60");

  private Benchmark() {}

  /**
   * Runs the benchmark. README.md describes the system properties that configure it.
   *
   * @param arguments ignored
   * @throws IllegalStateException if a measurement is invalid
   */
  public static void main(String... arguments)
      throws IOException, InterruptedException, SQLException {
    System.setProperty("slf4j.internal.verbosity", "ERROR"); // no warning about a missing logger
    try (Testbed testbed = new Testbed()) {
      String other = System.getProperty("bench.other", "");
      Figures figures =
          other.isEmpty() ? Figures.ofService(testbed) : Figures.ofBuilds(testbed, Path.of(other));
      String machine =
          Runtime.getRuntime().availableProcessors() + " cores, Java " + Runtime.version();
      System.out.println(machine + "; warming up");
      warmUp(testbed.services());
      List<Map<Subject, Measurement>> rounds = measure(figures.rows());
      System.out.printf("%n| what | median | min to max |%n| --- | --- | --- |%n");
      figures.rows().forEach(figure -> System.out.println(figure.row(rounds)));
      if (!figures.plotted().isEmpty()) {
        String note = "median and range of " + ROUNDS + " rounds of " + SECONDS + " s; " + machine;
        String svg = new Plot(figures.plotted(), rounds).svg(note);
        Files.writeString(Program.CLASSES.resolveSibling("benchmark.svg"), svg);
      }
    }
  }

  /**
   * Warms up all services in turn, and does so twice, so that the JVM of the last service has time
   * to compile its code as well.
   */
  private static void warmUp(List<Service> services)
      throws IOException, InterruptedException, SQLException {
    for (int turn = 1; turn <= 2; turn++) {
      for (Service service : services) {
        new Requests(service, 64).measure(Math.max(1, WARM_UP_SECONDS / 2));
      }
    }
  }

  private static List<Map<Subject, Measurement>> measure(List<Figure> figures)
      throws IOException, InterruptedException, SQLException {
    List<Subject> subjects =
        new ArrayList<>(figures.stream().flatMap(Figure::subjects).distinct().toList());
    List<Map<Subject, Measurement>> rounds = new ArrayList<>();
    for (int round = 1; round <= ROUNDS; round++) {
      System.out.println("round " + round);
      Map<Subject, Measurement> results = new HashMap<>();
      for (Subject subject : subjects) {
        Measurement result = subject.measure(SECONDS);
        System.out.printf(Locale.ROOT, "%s: %,.0f creates/s%n", subject.name(), result.perSecond());
        // A warm-up may end before the first response, but a measurement must not.
        if (result.perSecond() == 0) {
          throw new IllegalStateException(subject.name() + " created nothing");
        }
        results.put(subject, result);
      }
      rounds.add(results);
      // Reverses the order, so that no subject always benefits from its predecessor.
      Collections.reverse(subjects);
    }
    return rounds;
  }

  private static int option(String name, String otherwise) {
    return Integer.parseInt(System.getProperty(name, otherwise));
  }
}
