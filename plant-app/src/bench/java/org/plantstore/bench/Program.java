package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A program that is installed on this machine. No process outlives this one.
 *
 * @param file its file
 */
record Program(Path file) {

  /** Where Debian and its descendants install the programs of PostgreSQL, by version. */
  private static final Path SERVERS = Path.of("/usr/lib/postgresql");

  private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly)));
  }

  /**
   * Finds a program on the path or among those of PostgreSQL.
   *
   * @throws BenchmarkException if it is missing
   */
  static Program find(String name) throws IOException {
    List<Path> folders = new ArrayList<>();
    String path = Objects.requireNonNullElse(System.getenv("PATH"), "");
    Arrays.stream(path.split(File.pathSeparator)).map(Path::of).forEach(folders::add);
    if (Files.isDirectory(SERVERS)) {
      try (Stream<Path> versions = Files.list(SERVERS)) {
        versions
            .sorted(Comparator.reverseOrder())
            .map(version -> version.resolve("bin"))
            .forEach(folders::add);
      }
    }
    return folders.stream()
        .map(folder -> folder.resolve(name))
        .filter(Files::isExecutable)
        .findFirst()
        .map(Program::new)
        .orElseThrow(() ->
            new BenchmarkException(
                name + " is missing; on Debian and Ubuntu: apt-get install wrk postgresql"));
  }

  /**
   * Runs this program to its end and returns what it prints.
   *
   * @param options options, separated by spaces
   * @param arguments further arguments, which may have spaces in them
   * @throws BenchmarkException if it fails
   */
  String run(Map<String, String> environment, String options, String... arguments)
      throws IOException, InterruptedException {
    Process process = start(environment, options, arguments);
    try {
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new BenchmarkException(file + " " + options + " failed: " + output);
      }
      return output;
    } finally {
      end(process);
    }
  }

  /** Starts this program, with its output at this process' output. */
  Process start(Map<String, String> environment, String options, String... arguments)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(file.toString()).redirectErrorStream(true);
    builder.command().addAll(List.of(options.split(" ")));
    builder.command().addAll(List.of(arguments));
    // Such a variable could make pgbench measure something else, such as asynchronous commits.
    builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
    builder.environment().putAll(environment);
    return start(builder);
  }

  /** Starts processes, the output of each piped into the next one, and returns the first. */
  static Process start(ProcessBuilder... pipeline) throws IOException {
    List<Process> processes = ProcessBuilder.startPipeline(List.of(pipeline));
    RUNNING.addAll(processes);
    return processes.get(0);
  }

  /** Kills a process if it is still running, and returns once it has ended. */
  static void end(Process process) {
    process.destroyForcibly().onExit().join();
    RUNNING.remove(process);
  }

  /** Returns the file of a resource of this package. */
  static Path resource(String name) {
    return path(Objects.requireNonNull(Program.class.getResource(name), name));
  }

  /** Returns the folder of the classes of this benchmark. */
  static Path classes() {
    return path(
        Objects.requireNonNull(Program.class.getProtectionDomain().getCodeSource()).getLocation());
  }

  private static Path path(URL file) {
    try {
      return Path.of(file.toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
