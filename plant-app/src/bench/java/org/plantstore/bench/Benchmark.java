package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Measures all subjects in turn, round by round, and prints a table of their {@link Figures}. */
public final class Benchmark {

  private static final int ROUNDS = option("bench.rounds", "5");
  private static final int SECONDS = option("bench.seconds", "10");
  private static final int WARM_UP_SECONDS = option("bench.warmup", "60");

  private Benchmark() {}

  /**
   * Runs with options in system properties, which README.md explains.
   *
   * @param arguments none
   * @throws IllegalStateException if a figure would be wrong
   */
  public static void main(String... arguments)
      throws IOException, InterruptedException, SQLException {
    System.setProperty("slf4j.internal.verbosity", "ERROR"); // no warning of a missing logger
    try (Testbed testbed = new Testbed()) {
      String other = System.getProperty("bench.other", "");
      List<Figure> figures =
          other.isEmpty() ? Figures.ofService(testbed) : Figures.ofBuilds(testbed, Path.of(other));
      System.out.printf(
          "%d cores, Java %s; warming up%n",
          Runtime.getRuntime().availableProcessors(), Runtime.version());
      warmUp(testbed.services());
      List<Map<Subject, Measurement>> rounds = measure(figures);
      System.out.printf("%n| what | median | min to max |%n| --- | --- | --- |%n");
      figures.forEach(figure -> System.out.println(figure.row(rounds)));
    }
  }

  /** Warms up in two turns, so that the last service is compiled before the first measurement. */
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
        // A warm-up may end before the first answer, a measurement may not.
        if (result.perSecond() == 0) {
          throw new IllegalStateException(subject.name() + " created nothing");
        }
        results.put(subject, result);
      }
      rounds.add(results);
      // No subject should always profit from the one before it.
      Collections.reverse(subjects);
    }
    return rounds;
  }

  private static int option(String name, String otherwise) {
    return Integer.parseInt(System.getProperty(name, otherwise));
  }
}
