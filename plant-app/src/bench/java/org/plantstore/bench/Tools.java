package org.plantstore.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The programs that make load, which must be installed.
 *
 * @param wrk makes HTTP requests
 * @param pgbench makes SQL statements
 */
record Tools(Path wrk, Path pgbench) {

  /** Where Debian and those who follow it put the programs of a server, by its version. */
  private static final Path SERVERS = Path.of("/usr/lib/postgresql");

  /**
   * Looks for the programs.
   *
   * @throws BenchmarkException if one is missing
   */
  static Tools find() throws IOException {
    Optional<Path> wrk = find("wrk");
    Optional<Path> pgbench = find("pgbench");
    if (wrk.isEmpty() || pgbench.isEmpty()) {
      throw new BenchmarkException(
          "wrk and pgbench must be installed, but "
              + (wrk.isEmpty() ? pgbench.isEmpty() ? "both are" : "wrk is" : "pgbench is")
              + " missing; on Debian and Ubuntu: apt-get install wrk postgresql;"
              + " on macOS: brew install wrk postgresql");
    }
    return new Tools(wrk.orElseThrow(), pgbench.orElseThrow());
  }

  private static Optional<Path> find(String program) throws IOException {
    Stream<Path> path =
        Arrays.stream(
                Objects.requireNonNullElse(System.getenv("PATH"), "").split(File.pathSeparator))
            .map(Path::of);
    return Stream.concat(path, servers().stream())
        .map(folder -> folder.resolve(program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static List<Path> servers() throws IOException {
    if (!Files.isDirectory(SERVERS)) {
      return List.of();
    }
    try (Stream<Path> versions = Files.list(SERVERS)) {
      return versions
          .sorted(Comparator.reverseOrder())
          .map(version -> version.resolve("bin"))
          .toList();
    }
  }
}
