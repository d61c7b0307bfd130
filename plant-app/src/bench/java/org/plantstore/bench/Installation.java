package org.plantstore.bench;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The packaged service, and how its users start it.
 *
 * @param target the folder that it was built in
 * @param database where it keeps its plants
 */
record Installation(Path target, Database database) {

  private static final String MAIN = "org.plantstore.app.Main";

  /** As many as the store had which made one insert per request. */
  private static final int CONNECTIONS_OF_ONE_INSERT = 10;

  private static final String JAVA_HOME = System.getProperty("java.home");

  Path jar() {
    return target.resolve("plant-app.jar");
  }

  /** Answers the start script; where there is none, users start the jar. */
  Path script() {
    return target.resolve("plant-store");
  }

  /** Answers what the JVM keeps of an earlier run to start faster, if that was built. */
  Path aotCache() {
    return target.resolve("plant-app.aot");
  }

  /**
   * Starts the service.
   *
   * @param settings further environment variables
   * @param token one that it accepts
   */
  Service start(Map<String, String> settings, String token)
      throws IOException, InterruptedException {
    List<String> command =
        Files.isExecutable(script())
            ? List.of(script().toString())
            : List.of(java(), "-jar", jar().toString());
    return start(command, settings, token);
  }

  /**
   * Starts the service with the store that makes one insert per request.
   *
   * @param model the service whose JVM options it gets
   */
  Service startOneInsertPerRequest(Service model, Map<String, String> settings, String token)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(java()));
    // A cache of classes belongs to one class path.
    model.jvmOptions().stream()
        .filter(option -> !option.matches("-XX:[+-]?(AOT|Shared|AutoCreateShared).*|-Xshare.*"))
        .forEach(command::add);
    command.add("-Done.insert.per.request=true");
    command.add("-Ddatasources.default.maximum-pool-size=" + CONNECTIONS_OF_ONE_INSERT);
    command.addAll(List.of("-cp", jar() + File.pathSeparator + Resource.classes(), MAIN));
    return start(command, settings, token);
  }

  private Service start(List<String> command, Map<String, String> settings, String token)
      throws IOException, InterruptedException {
    int port = freePort();
    Path output = Files.createTempFile("plant-store", ".log");
    output.toFile().deleteOnExit();
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment(port));
    builder.environment().putAll(settings);
    long start = System.nanoTime();
    Process process = Children.start(builder);
    try {
      FirstPlant.await(process, port, token);
      Duration time = Duration.ofNanos(System.nanoTime() - start);
      return new Service(process, URI.create("http://localhost:" + port), output, time);
    } catch (BenchmarkException e) {
      Children.end(process);
      throw new BenchmarkException(
          String.join(" ", command) + ": " + e.getMessage() + ": " + Service.lastLines(output));
    }
  }

  /** Nothing of this process' environment that could change how the service works. */
  private Map<String, String> environment(int port) throws IOException {
    Map<String, String> environment = new HashMap<>();
    environment.put("PATH", Objects.requireNonNullElse(System.getenv("PATH"), ""));
    environment.put("JAVA_HOME", JAVA_HOME);
    environment.put("DATABASE_URL", database.url());
    environment.put("DATABASE_USERNAME", Database.USERNAME);
    environment.put("DATABASE_PASSWORD", "any");
    environment.put("PORT", String.valueOf(port));
    environment.put("MANAGEMENT_PORT", String.valueOf(freePort()));
    environment.put("DRAIN_SECONDS", "0");
    return environment;
  }

  private static String java() {
    return Path.of(JAVA_HOME, "bin", "java").toString();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
