package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures the packaged service, prints what it came to and keeps all figures in {@code
 * target/benchmark.json}. A goal that is missed is a result; only what makes figures wrong is a
 * failure.
 */
public final class Benchmark {

  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Path RESULT = TARGET.resolve("benchmark.json");

  private Benchmark() {}

  /**
   * Runs in the folder of plant-app.
   *
   * @param arguments none; options are system properties
   */
  public static void main(String... arguments)
      throws IOException, InterruptedException, SQLException {
    endWithMaven();
    try {
      run(Options.ofSystemProperties());
    } catch (BenchmarkException e) {
      System.err.println("The benchmark has failed: " + e.getMessage());
      System.exit(1);
    }
  }

  /** A Maven that is ended by a signal leaves its children behind; they would go on measuring. */
  @SuppressWarnings("FutureReturnValueIgnored") // of Maven's end, which nobody waits for
  private static void endWithMaven() {
    ProcessHandle.current()
        .parent()
        .ifPresent(parent -> parent.onExit().thenRun(() -> System.exit(1)));
  }

  private static void run(Options options) throws IOException, InterruptedException, SQLException {
    List<String> unknown = new ArrayList<>(options.parts());
    unknown.removeAll(parts().keySet());
    if (!unknown.isEmpty()) {
      throw new BenchmarkException(
          "bench.parts must be some of " + parts().keySet() + ", but has " + unknown);
    }
    Tools tools = Tools.find();
    try (Database database = Database.start(TARGET)) {
      Laboratory laboratory =
          new Laboratory(
              options,
              database,
              new Installation(TARGET, database),
              new Wrk(tools.wrk()),
              new Pgbench(tools.pgbench(), database),
              Keys.generate(),
              new Journal());
      Map<String, Object> context = context(laboratory, tools);
      context.forEach((what, value) -> laboratory.journal().tell(what + ": " + value));
      Report report = new Report(measure(laboratory));
      report.write(RESULT, context, laboratory.journal().entries());
      laboratory.journal().tell("\n" + report.table() + "\n\nAll figures are in " + RESULT);
    }
  }

  private static Map<String, Part> parts() {
    Map<String, Part> parts = new LinkedHashMap<>();
    parts.put(CreatesPart.NAME, new CreatesPart());
    parts.put(OtherBuildPart.NAME, new OtherBuildPart());
    parts.put(LatencyPart.NAME, new LatencyPart());
    parts.put(TokensPart.NAME, new TokensPart());
    parts.put(ConnectionsPart.NAME, new ConnectionsPart());
    parts.put(RowsPart.NAME, new RowsPart());
    parts.put(RetriesPart.NAME, new RetriesPart());
    parts.put(AccessLogPart.NAME, new AccessLogPart());
    parts.put(StartPart.NAME, new StartPart());
    return parts;
  }

  private static List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    List<Row> rows = new ArrayList<>();
    for (Map.Entry<String, Part> part : parts().entrySet()) {
      if (laboratory.options().parts().contains(part.getKey())) {
        laboratory.journal().tell(part.getKey());
        rows.addAll(part.getValue().measure(laboratory));
      }
    }
    return rows;
  }

  private static Map<String, Object> context(Laboratory laboratory, Tools tools)
      throws IOException, InterruptedException, SQLException {
    Map<String, Object> context = new LinkedHashMap<>();
    context.put("date", Instant.now().toString());
    context.put("options", laboratory.options().toString());
    context.putAll(Machine.describe(tools, laboratory.database()));
    Installation installation = laboratory.installation();
    context.put(
        "started_by",
        Files.isExecutable(installation.script())
            ? installation.script().getFileName().toString()
            : "java -jar " + installation.jar().getFileName());
    try (Target target = laboratory.startService("service")) {
      context.put("jvm_options", target.service().jvmOptions());
    }
    return context;
  }
}
