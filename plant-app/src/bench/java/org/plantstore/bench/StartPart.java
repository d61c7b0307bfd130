package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long a start takes, with what the JVM keeps of an earlier run and without it. */
final class StartPart implements Part {

  static final String NAME = "start";

  private static final int FIRST_JAVA_WITH_CACHE = 25;
  private static final String WHAT =
      "start to first created plant, JDK 25 with AOT cache ÷ without";
  private static final Goal GOAL = Goal.atMost(0.4);
  private static final double NANOS_PER_MILLI = 1e6;

  @Override
  public List<Row> measure(Laboratory laboratory) throws IOException, InterruptedException {
    String obstacle = obstacle(laboratory.installation());
    if (!obstacle.isEmpty()) {
      return List.of(Row.notMeasured(WHAT, Unit.RATIO, GOAL, obstacle));
    }
    // The first start finds the files that it reads not yet in memory.
    start(laboratory, true);
    start(laboratory, false);
    List<Double> with = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = 1; round <= laboratory.options().starts(); round++) {
      double withCache = start(laboratory, true);
      double without = start(laboratory, false);
      laboratory
          .journal()
          .add(NAME, round, "service", Map.of("with_ms", withCache, "without_ms", without));
      with.add(withCache);
      ratios.add(withCache / without);
    }
    return List.of(
        Row.measured(WHAT, Unit.RATIO, GOAL, new Samples(ratios)),
        Row.information(
            "start to first created plant with AOT cache", Unit.MILLISECONDS, new Samples(with)));
  }

  private static String obstacle(Installation installation) {
    if (Runtime.version().feature() < FIRST_JAVA_WITH_CACHE) {
      return "needs JDK 25 or later, but this is " + Runtime.version().feature();
    }
    if (!Files.isExecutable(installation.script())) {
      return "there is no start script " + installation.script();
    }
    if (!Files.exists(installation.aotCache())) {
      return "there is no cache " + installation.aotCache() + "; mvn -Paot,bench makes one";
    }
    return "";
  }

  private static double start(Laboratory laboratory, boolean withCache)
      throws IOException, InterruptedException {
    Map<String, String> settings = new HashMap<>();
    settings.put("JWT_SECRET", laboratory.keys().secret());
    if (withCache) {
      // Java refuses to start if the cache is of another jar or JDK.
      settings.put("JAVA_OPTS", "-XX:AOTMode=on");
    } else {
      settings.put("PLANT_STORE_AOT", "off");
    }
    try (Service service = laboratory.installation().start(settings, laboratory.keys().hs256())) {
      Duration time = service.timeToFirstPlant();
      return time.toNanos() / NANOS_PER_MILLI;
    }
  }
}
