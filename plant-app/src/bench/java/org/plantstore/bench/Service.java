package org.plantstore.bench;

import java.io.IOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * A service that runs in its own process and uses its own database.
 *
 * @param name the name of the service in the output
 * @param process the process of the start script, which the JVM replaces
 * @param address the URL of the service's {@code /plants} resource
 * @param token a token that the service accepts
 * @param database the database of the service
 */
record Service(String name, Process process, String address, String token, Database database) {

  private static final long START_LIMIT_NANOS = 60_000_000_000L;
  private static final long PAUSE_NANOS = 20_000_000;

  /**
   * Starts a service, and waits until it is ready.
   *
   * @param script the start script; the log of the service is written to the same folder
   * @param settings the settings of the service, except the ports and the database
   */
  static Service start(
      String name, Path script, Map<String, String> settings, String token, Database database)
      throws IOException {
    int port = freePort();
    int managementPort = freePort();
    Map<String, String> environment = new HashMap<>(settings);
    environment.put("DATABASE_URL", "jdbc:" + database.url());
    environment.put("DATABASE_USERNAME", Database.USERNAME);
    environment.put("DATABASE_PASSWORD", "any"); // the server requires none
    environment.put("PORT", String.valueOf(port));
    environment.put("MANAGEMENT_PORT", String.valueOf(managementPort));
    Path log = script.resolveSibling("output.log");
    // Containers and systemd also read the log from a pipe or a socket, and each write wakes the
    // reader.
    Process process =
        ProcessBuilder.startPipeline(
                List.of(
                    Program.builder(environment, "sh", script),
                    new ProcessBuilder("cat").redirectOutput(log.toFile())))
            .get(0);
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    awaitReadiness(process, managementPort, log);
    String scheme = settings.containsKey("TLS_KEY") ? "https" : "http";
    String address = scheme + "://localhost:" + port + "/plants";
    return new Service(name, process, address, token, database);
  }

  private static void awaitReadiness(Process process, int managementPort, Path log)
      throws IOException {
    URL readiness = URI.create("http://localhost:" + managementPort + "/health/readiness").toURL();
    long deadline = System.nanoTime() + START_LIMIT_NANOS;
    while (process.isAlive() && System.nanoTime() - deadline < 0) {
      try {
        HttpURLConnection connection = (HttpURLConnection) readiness.openConnection();
        if (connection.getResponseCode() == HttpURLConnection.HTTP_OK) {
          return;
        }
      } catch (ConnectException e) {
        // The port is not open yet.
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    throw new IllegalStateException("the service does not start; its log is " + log);
  }

  /** Returns the CPU time that the process has used since it started, in microseconds. */
  double cpuMicros() {
    return process.info().totalCpuDuration().orElseThrow().toNanos() / 1e3;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Kills the process, and waits until it has exited. */
  void stop() {
    process.destroyForcibly().onExit().join();
  }
}
