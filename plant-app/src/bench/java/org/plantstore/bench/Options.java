package org.plantstore.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a user chooses, by system properties; the defaults are in the POM.
 *
 * @param parts what to measure
 * @param rounds how often each thing is measured, in turn with what it is compared with
 * @param roundTime how long each measurement takes
 * @param warmUpTime how long a service is warmed up before it is measured
 * @param rows the rows of the large table
 * @param starts how many starts are measured of each kind
 * @param other the jar of another build to compare with, or null
 */
record Options(
    List<String> parts,
    int rounds,
    Duration roundTime,
    Duration warmUpTime,
    long rows,
    int starts,
    @Nullable Path other) {

  Options {
    parts = List.copyOf(parts);
  }

  static Options ofSystemProperties() {
    return new Options(
        Arrays.stream(System.getProperty("bench.parts", "").split(",")).map(String::strip).toList(),
        Math.toIntExact(positive("bench.rounds")),
        Duration.ofSeconds(positive("bench.seconds")),
        Duration.ofSeconds(positive("bench.warmup")),
        positive("bench.rows"),
        Math.toIntExact(positive("bench.starts")),
        otherOfSystemProperty());
  }

  private static @Nullable Path otherOfSystemProperty() {
    String jar = System.getProperty("bench.other", "");
    if (jar.isEmpty()) {
      return null;
    }
    if (!Files.isRegularFile(Path.of(jar))) {
      throw new BenchmarkException("bench.other must be the jar of another build, but is " + jar);
    }
    return Path.of(jar).toAbsolutePath();
  }

  private static long positive(String property) {
    String value = System.getProperty(property, "");
    if (!value.matches("[1-9][0-9]{0,8}")) {
      throw new BenchmarkException(
          property + " must be a whole number from 1 to 999999999, but is " + value);
    }
    return Long.parseLong(value);
  }
}
