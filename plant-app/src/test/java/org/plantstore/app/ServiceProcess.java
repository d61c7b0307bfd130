package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.app.development.DevelopmentKey;

/** The service in a process of its own, as an operator starts it: by environment variables. */
final class ServiceProcess implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final int port = freePort();
  private final int managementPort = freePort();
  private final Path output = temporaryFile();
  private final Path errors = temporaryFile();
  private final Process process;
  private @Nullable ServedDocument document;

  /** Starts the service as it was built, and does not wait for it. */
  ServiceProcess(Map<String, String> environment) {
    this(builder(), environment);
  }

  /** Starts a process without any of this process' variables, and does not wait for it. */
  ServiceProcess(ProcessBuilder builder, Map<String, String> environment) {
    this(builder, environment, false);
  }

  private ServiceProcess(
      ProcessBuilder builder, Map<String, String> environment, boolean isOutputHeld) {
    builder
        .redirectOutput(isOutputHeld ? Redirect.PIPE : Redirect.to(output.toFile()))
        .redirectError(errors.toFile());
    builder.environment().clear();
    builder.environment().put("PORT", String.valueOf(port));
    builder.environment().put("MANAGEMENT_PORT", String.valueOf(managementPort));
    builder.environment().put("DRAIN_SECONDS", "0");
    builder.environment().putAll(environment);
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As the first constructor, but what the service writes waits until the test reads it. */
  static ServiceProcess withHeldOutput(Map<String, String> environment) {
    return new ServiceProcess(builder(), environment, true);
  }

  private static ProcessBuilder builder() {
    return new ProcessBuilder(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp",
        System.getProperty("java.class.path"),
        "org.plantstore.app.Main");
  }

  /** Sends a create with a valid token, and requires that its answer is as documented. */
  HttpResponse<String> create(String json) {
    return create(json, createRequest(address(), token()));
  }

  /** Sends a create with these headers alone, and requires that its answer is as documented. */
  HttpResponse<String> create(String json, Map<String, String> headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(address().resolve("/plants"));
    headers.forEach(request::header);
    return create(json, request);
  }

  private HttpResponse<String> create(String json, HttpRequest.Builder request) {
    HttpResponse<String> response = send(request.POST(BodyPublishers.ofString(json)));
    document().requireDescribed(json, response);
    return response;
  }

  /** Answers the document that this process serves. */
  ServedDocument document() {
    ServedDocument served = document;
    if (served == null) {
      served =
          new ServedDocument(
              send(HttpRequest.newBuilder(address().resolve("/openapi.yaml"))).body());
      document = served;
    }
    return served;
  }

  URI address() {
    return URI.create("http://localhost:" + port);
  }

  /** Begins a create with this token; its body is still to be added. */
  static HttpRequest.Builder createRequest(URI service, String token) {
    return HttpRequest.newBuilder(service.resolve("/plants"))
        .header("Authorization", "Bearer " + token)
        .header("Content-Type", "application/json");
  }

  /** Answers a token that is valid wherever {@link DevelopmentKey} is the key. */
  static String token() {
    return DevelopmentKey.token(Duration.ofHours(1));
  }

  HttpResponse<String> health(String kind) {
    return send(HttpRequest.newBuilder(managementAddress().resolve("/health/" + kind)));
  }

  /** Asks the port that is for operators for the metrics. */
  HttpResponse<String> metrics() {
    return send(HttpRequest.newBuilder(managementAddress().resolve("/prometheus")));
  }

  /** Sends a create with a valid token to the port that is for operators. */
  HttpResponse<String> createAtManagementPort(String json) {
    return send(createRequest(managementAddress(), token()).POST(BodyPublishers.ofString(json)));
  }

  private URI managementAddress() {
    return URI.create("http://localhost:" + managementPort);
  }

  /** Sends a GET to the API. */
  HttpResponse<String> get(String path, Map<String, String> headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(address().resolve(path));
    headers.forEach(request::header);
    return send(request);
  }

  ServiceProcess awaitReady() {
    awaitReadiness(200);
    return this;
  }

  void awaitReadiness(int status) {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (readiness() != status) {
      if (System.nanoTime() > deadline || !process.isAlive()) {
        throw new AssertionError("not ready: " + errors() + output());
      }
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
  }

  /** Answers the status of the readiness, or -1 if nobody answers. */
  int readiness() {
    try {
      return health("readiness").statusCode();
    } catch (UncheckedIOException e) {
      return -1;
    }
  }

  /** Says whether anyone listens at the port of the API. */
  boolean isOpen() {
    return isOpen(port);
  }

  boolean isManagementOpen() {
    return isOpen(managementPort);
  }

  private static boolean isOpen(int port) {
    try (Socket socket = new Socket("localhost", port)) {
      return socket.isConnected();
    } catch (ConnectException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  int awaitExit(Duration timeout) {
    try {
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("still runs after " + timeout);
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Asks the process to end, as SIGTERM does, and waits until it has. */
  void stop() {
    stop(TIMEOUT);
  }

  void stop(Duration timeout) {
    terminate();
    awaitExit(timeout);
  }

  /** Asks the process to end, as SIGTERM does, and does not wait for it. */
  void terminate() {
    process.toHandle().destroy(); // the process itself would stop listening to what it writes
  }

  void kill() {
    process.destroyForcibly();
    awaitExit(TIMEOUT);
  }

  String output() {
    return read(output);
  }

  /** Answers the first line of the output that has a text; it may come after an answer. */
  String awaitLine(String text) {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (true) {
      Optional<String> line = output().lines().filter(each -> each.contains(text)).findFirst();
      if (line.isPresent()) {
        return line.get();
      }
      if (System.nanoTime() > deadline || !process.isAlive()) {
        throw new AssertionError("no line has " + text + ": " + errors() + output());
      }
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }

  /** What a service {@linkplain #withHeldOutput with held output} writes, for one reader. */
  BufferedReader heldOutput() {
    return process.inputReader(UTF_8);
  }

  String errors() {
    return read(errors);
  }

  @Override
  public void close() {
    kill();
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return CLIENT.send(request.timeout(TIMEOUT).build(), BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path temporaryFile() {
    try {
      Path file = Files.createTempFile("plant-store", ".log");
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
