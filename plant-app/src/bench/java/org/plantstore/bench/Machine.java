package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What figures depend on besides the service, as far as this system tells. */
final class Machine {

  private static final String UNKNOWN = "unknown";

  private Machine() {}

  static Map<String, Object> describe(Tools tools, Database database)
      throws IOException, InterruptedException, SQLException {
    Map<String, Object> machine = new LinkedHashMap<>();
    machine.put("cores", Runtime.getRuntime().availableProcessors());
    machine.put("cpu", value(Path.of("/proc/cpuinfo"), "model name"));
    machine.put("memory", value(Path.of("/proc/meminfo"), "MemTotal"));
    machine.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put("architecture", System.getProperty("os.arch"));
    machine.put(
        "jdk",
        System.getProperty("java.vendor") + " " + System.getProperty("java.runtime.version"));
    machine.put("postgresql", database.ask("SELECT version()"));
    for (String setting : List.of("fsync", "full_page_writes", "synchronous_commit")) {
      machine.put(setting, database.ask("SHOW " + setting));
    }
    machine.put("wrk", wrkVersion(tools.wrk()));
    machine.put("pgbench", firstLine(List.of(tools.pgbench().toString(), "--version")));
    machine.put("revision", revision());
    return machine;
  }

  private static String value(Path file, String name) throws IOException {
    if (!Files.exists(file)) {
      return UNKNOWN;
    }
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(UNKNOWN);
    }
  }

  /** wrk says its version on the way to a failure. */
  private static String wrkVersion(Path wrk) throws IOException, InterruptedException {
    return firstLine(List.of("sh", "-c", "\"$0\" --version || true", wrk.toString()));
  }

  private static String revision() throws IOException, InterruptedException {
    try {
      return firstLine(List.of("git", "describe", "--always", "--dirty", "--abbrev=40"));
    } catch (BenchmarkException e) {
      return UNKNOWN;
    }
  }

  private static String firstLine(List<String> command) throws IOException, InterruptedException {
    return Command.run(Map.of(), command).lines().findFirst().orElse(UNKNOWN);
  }
}
