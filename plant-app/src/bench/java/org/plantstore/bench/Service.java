package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A service in a process of its own, which has answered its first create. */
final class Service implements AutoCloseable {

  private static final Set<String> LAST_OPTION = Set.of("-jar", "-cp", "-classpath");
  private static final long BYTES_PER_KIBIBYTE = 1_024;
  private static final int LAST_LINES = 20;

  private final Process process;
  private final ProcessHandle java;
  private final URI address;
  private final Path output;
  private final Duration timeToFirstPlant;

  Service(Process process, URI address, Path output, Duration timeToFirstPlant) {
    this.process = process;
    this.java = javaOf(process);
    this.address = address;
    this.output = output;
    this.timeToFirstPlant = timeToFirstPlant;
  }

  /** A start script may have become the JVM, or be waiting for it. */
  private static ProcessHandle javaOf(Process process) {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .filter(handle -> handle.info().command().orElse("").endsWith("java"))
        .findFirst()
        .orElseGet(process::toHandle);
  }

  URI address() {
    return address;
  }

  /** Answers how long it took from the start of the process to the answer of its first create. */
  Duration timeToFirstPlant() {
    return timeToFirstPlant;
  }

  /** Answers the processor time that the process has taken since its start. */
  Duration cpuTime() {
    return java.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Answers the options that the JVM was started with, as far as the system tells. */
  List<String> jvmOptions() {
    return Arrays.stream(java.info().arguments().orElseGet(() -> new String[0]))
        .takeWhile(argument -> !LAST_OPTION.contains(argument))
        .toList();
  }

  /** Says whether {@link #peakMemoryBytes()} can be asked. */
  static boolean knowsPeakMemory() {
    return Files.exists(Path.of("/proc/self/status"));
  }

  /** Answers the most memory that was resident at once since the start. */
  long peakMemoryBytes() throws IOException {
    try (Stream<String> status = Files.lines(Path.of("/proc/" + java.pid() + "/status"))) {
      return status
          .filter(line -> line.startsWith("VmHWM:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * BYTES_PER_KIBIBYTE)
          .findFirst()
          .orElseThrow();
    }
  }

  String lastOutput() {
    return lastLines(output);
  }

  static String lastLines(Path output) {
    try {
      List<String> lines = Files.readString(output, UTF_8).lines().toList();
      return String.join(
          System.lineSeparator(),
          lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    Children.end(process);
  }
}
