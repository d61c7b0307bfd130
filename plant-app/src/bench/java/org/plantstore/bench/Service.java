package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A service in a process of its own, which has answered its first create.
 *
 * @param process the JVM, which takes the place of the start script
 * @param address the URL of its plants
 * @param output the file with its log
 * @param startMillis the time from the start of the process to the answer to the first create
 */
record Service(Process process, String address, Path output, double startMillis)
    implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double MEGABYTES_PER_KIBIBYTE = 1_024 / 1e6;
  private static final int LAST_LINES = 20;

  /**
   * Starts a service and waits until it has created a plant.
   *
   * @param environment its settings; nothing else of this process's environment but the path
   */
  static Service start(Path script, Map<String, String> environment, String token)
      throws IOException {
    int port = freePort();
    Path output = Files.createTempFile("plant-store", ".log");
    output.toFile().deleteOnExit();
    ProcessBuilder builder = new ProcessBuilder(script.toString()).redirectErrorStream(true);
    // Under containers and systemd a log goes into a pipe or socket, which wakes its reader.
    ProcessBuilder reader = new ProcessBuilder("cat").redirectOutput(output.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.environment().put("PATH", Objects.requireNonNullElse(System.getenv("PATH"), ""));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("PORT", String.valueOf(port));
    builder.environment().put("MANAGEMENT_PORT", String.valueOf(freePort()));
    String scheme = environment.containsKey("TLS_KEY") ? "https" : "http";
    String address = scheme + "://localhost:" + port + "/plants";
    long start = System.nanoTime();
    Process process = Program.start(builder, reader);
    if (!createsPlant(process, address, token)) {
      Program.end(process);
      throw new BenchmarkException("the service created no plant: " + lastLines(output));
    }
    return new Service(process, address, output, (System.nanoTime() - start) / NANOS_PER_MILLI);
  }

  /** Tries to create a plant until it succeeds, the process ends or the time is up. */
  private static boolean createsPlant(Process process, String address, String token) {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (process.isAlive() && System.nanoTime() - deadline < 0) {
      try {
        if (create(address, token) == HttpURLConnection.HTTP_OK) {
          return true;
        }
      } catch (IOException e) {
        // The port is not open yet.
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
    return false;
  }

  private static int create(String address, String token) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) URI.create(address).toURL().openConnection();
    connection.setDoOutput(true);
    connection.setReadTimeout((int) START_LIMIT.toMillis());
    connection.setRequestProperty("Authorization", "Bearer " + token);
    connection.setRequestProperty("Content-Type", "application/json");
    connection.setRequestProperty("Connection", "close");
    String body =
        String.format(
            Locale.ROOT, "{\"id\":%d,\"name\":\"fern\"}", ThreadLocalRandom.current().nextLong());
    connection.getOutputStream().write(body.getBytes(UTF_8));
    return connection.getResponseCode();
  }

  /** Returns the processor time of the process since its start. */
  double cpuMillis() {
    Duration time = process.info().totalCpuDuration().orElse(Duration.ZERO);
    return time.toNanos() / NANOS_PER_MILLI;
  }

  /** Returns the largest resident set of the process since its start, NaN if it is not Linux. */
  double peakMegabytes() throws IOException {
    Path status = Path.of("/proc/" + process.pid() + "/status");
    if (!Files.exists(status)) {
      return Double.NaN;
    }
    try (Stream<String> lines = Files.lines(status)) {
      return lines
          .filter(line -> line.startsWith("VmHWM:"))
          .mapToDouble(line -> Long.parseLong(line.replaceAll("\\D", "")) * MEGABYTES_PER_KIBIBYTE)
          .findFirst()
          .orElse(Double.NaN);
    }
  }

  /** Returns the command line of the JVM, as far as the system knows it. */
  String commandLine() {
    return process.info().commandLine().orElse("unknown");
  }

  String lastOutput() {
    return lastLines(output);
  }

  private static String lastLines(Path output) {
    try {
      List<String> lines = Files.readAllLines(output);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    Program.end(process);
  }
}
