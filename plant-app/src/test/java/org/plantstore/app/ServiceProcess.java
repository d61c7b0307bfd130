package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.app.development.DevelopmentKey;
import org.plantstore.fixture.DatabaseServer;

/** A service process that is started as an operator would start it, and an HTTP client for it. */
final class ServiceProcess implements AutoCloseable {

  /** The exit code of a JVM that was stopped with SIGTERM. */
  static final int TERMINATED = 143;

  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** The class path. Jars replace folders, because Java cannot archive classes from folders. */
  private static final List<String> CLASS_PATH =
      Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
          .map(ServiceProcess::toJar)
          .toList();

  /** An archive of the classes that a service loads. The archive halves the startup time. */
  private static final class Archive {

    static final Path FILE = temporaryFile("plant-store", ".jsa");

    static {
      ProcessBuilder command = command("-XX:ArchiveClassesAtExit=" + FILE, CLASS_PATH);
      Map<String, String> environment = assertDoesNotThrow(Database::create).environment();
      try (ServiceProcess service = new ServiceProcess(command, environment)) {
        assertEquals(TERMINATED, service.awaitReady().stop());
      }
    }
  }

  /**
   * The service that tests share unless they change it. Its settings are the defaults, except for
   * those of {@link Database#environment}, and that only the caller {@code developer} may create
   * plants. Other callers receive 403.
   */
  private static final class Shared {

    static final ServiceProcess SERVICE =
        new ServiceProcess(Database.shared().environment("JWT_REQUIRED_CLAIMS", "sub=developer"));

    static {
      Runtime.getRuntime().addShutdownHook(new Thread(SERVICE::close));
      SERVICE.awaitReady();
    }
  }

  final int port = DatabaseServer.freePort();
  final int managementPort = DatabaseServer.freePort();
  private final Path output = temporaryFile("plant-store", ".log");
  private final Path errors = temporaryFile("plant-store", ".log");
  final Process process;

  /** Starts the service with these arguments without waiting until it is ready. */
  ServiceProcess(Map<String, String> environment, String... arguments) {
    this(java(List.of(arguments)), environment);
  }

  /** Starts a process that inherits no variables, without waiting until it is ready. */
  ServiceProcess(ProcessBuilder builder, Map<String, String> environment) {
    this(builder, environment, null);
  }

  /**
   * Starts a process in the same way but redirects its output. If {@code redirect} is {@link
   * Redirect#PIPE}, the output waits in a pipe until the test reads it.
   */
  ServiceProcess(
      ProcessBuilder builder, Map<String, String> environment, @Nullable Redirect redirect) {
    builder.redirectOutput(redirect == null ? Redirect.to(output.toFile()) : redirect);
    builder.redirectError(errors.toFile());
    builder.environment().clear();
    builder.environment().put("PORT", String.valueOf(port));
    builder.environment().put("MANAGEMENT_PORT", String.valueOf(managementPort));
    builder.environment().put("DRAIN_SECONDS", "0");
    builder.environment().putAll(environment);
    process = assertDoesNotThrow(() -> builder.start());
  }

  static ServiceProcess shared() {
    return Shared.SERVICE;
  }

  /** Returns the command that starts a service with these arguments and Java options. */
  static ProcessBuilder java(List<String> arguments, String... options) {
    ProcessBuilder builder = command("-XX:SharedArchiveFile=" + Archive.FILE, CLASS_PATH);
    builder.command().addAll(builder.command().indexOf("-cp"), List.of(options));
    builder.command().addAll(arguments);
    return builder;
  }

  /** Returns the command that starts a service with the store in a folder instead of PostgreSQL. */
  static ProcessBuilder javaWithStore(Path folder) {
    List<String> classPath = new ArrayList<>(CLASS_PATH);
    classPath.removeIf(entry -> entry.contains("plant-adapter-persistence"));
    classPath.add(0, folder.toString());
    return command("-Xshare:auto", classPath); // the archive was created for another class path
  }

  private static ProcessBuilder command(String archiveOption, List<String> classPath) {
    return new ProcessBuilder(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        archiveOption,
        "-Xlog:disable", // Java warns if a class differs from the archived one
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        // This locale has its own digits, which would be wrong in JSON and SQL.
        "-Duser.language=fa",
        "-Duser.country=IR",
        "-cp",
        String.join(File.pathSeparator, classPath),
        Main.class.getName());
  }

  private static String toJar(String entry) {
    if (!Files.isDirectory(Path.of(entry))) {
      return entry;
    }
    String jar = temporaryFile(entry.replace('/', '-'), ".jar").toString();
    ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
    assertEquals(0, tool.run(System.out, System.err, "--create", "--file", jar, "-C", entry, "."));
    return jar;
  }

  private static Path temporaryFile(String prefix, String suffix) {
    Path file = assertDoesNotThrow(() -> Files.createTempFile(prefix, suffix));
    file.toFile().deleteOnExit();
    return file;
  }

  ServiceProcess awaitReady() {
    awaitReadiness(200);
    return this;
  }

  void awaitReadiness(int status) {
    Await.until(() -> assertEquals(status, readiness(), () -> errors() + output()));
  }

  /**
   * Waits until a line of the output contains this text, and returns the first such line. The
   * service may write a line after it has sent the response.
   */
  String awaitLine(String text) {
    Await.until(() -> assertTrue(lines(text).size() > 0, () -> text + ": " + errors() + output()));
    return lines(text).get(0);
  }

  List<String> lines(String text) {
    return output().lines().filter(line -> line.contains(text)).toList();
  }

  /** Returns the output of the process, or nothing if it was redirected. */
  String output() {
    return assertDoesNotThrow(() -> Files.readString(output));
  }

  /** Returns what the process has written to standard error. */
  String errors() {
    return assertDoesNotThrow(() -> Files.readString(errors));
  }

  int awaitExit() {
    return process.onExit().orTimeout(Await.LIMIT.toSeconds(), TimeUnit.SECONDS).join().exitValue();
  }

  void terminate() {
    process.toHandle().destroy(); // Process.destroy would also close its output
  }

  void signal(String name) throws IOException {
    String[] command = {"kill", "-" + name, String.valueOf(process.pid())};
    Program.run(Path.of("."), Map.of(), command).requireSuccess();
  }

  /** Stops the process with SIGTERM and returns its exit code. */
  int stop() {
    terminate();
    return awaitExit();
  }

  @Override
  public void close() {
    process.destroyForcibly();
    awaitExit();
  }

  URI address() {
    return URI.create("http://localhost:" + port);
  }

  HttpRequest.Builder at(String path) {
    return HttpRequest.newBuilder(address().resolve(path));
  }

  HttpRequest.Builder atManagement(String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + managementPort + path));
  }

  /** Returns a token that is valid for services with the key {@link DevelopmentKey#SECRET}. */
  static String token() {
    return DevelopmentKey.token(Duration.ofHours(1));
  }

  static HttpRequest.Builder createRequest(URI service, String token, String json) {
    return HttpRequest.newBuilder(service.resolve("/plants"))
        .header("Authorization", "Bearer " + token)
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(json));
  }

  static String json(long id, String name) {
    return "{\"id\":" + id + ",\"name\":\"" + name + "\"}";
  }

  HttpResponse<String> create(long id, String name) {
    return create(json(id, name));
  }

  HttpResponse<String> create(String json) {
    return beginCreate(json).join();
  }

  CompletableFuture<HttpResponse<String>> beginCreate(String json) {
    return begin(createRequest(address(), token(), json));
  }

  static HttpResponse<String> send(HttpRequest.Builder request) {
    return begin(request).join();
  }

  private static CompletableFuture<HttpResponse<String>> begin(HttpRequest.Builder request) {
    return CLIENT.sendAsync(request.timeout(Await.LIMIT).build(), BodyHandlers.ofString());
  }

  /** Returns the status of the readiness probe, or -1 if the port is closed. */
  int readiness() {
    try {
      return send(atManagement("/health/readiness")).statusCode();
    } catch (CompletionException e) {
      return -1;
    }
  }

  String metrics() {
    return send(atManagement("/prometheus")).body();
  }

  static boolean isOpen(int port) {
    try (Socket socket = new Socket("localhost", port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }
}
