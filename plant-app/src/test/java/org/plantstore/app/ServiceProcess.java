package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A service process with environment variables, as an operator starts it. */
final class ServiceProcess extends ServiceClient implements AutoCloseable {

  /** The exit code of a JVM that SIGTERM has ended. */
  static final int TERMINATED = 143;

  /** The class path of the tests, with jars in place of folders, which Java cannot archive. */
  static final String CLASS_PATH =
      Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
          .map(ServiceProcess::toJar)
          .collect(joining(File.pathSeparator));

  /** The archive of the classes that a service loads. It halves the time of a start. */
  private static final class Archive {

    static final Path FILE = temporaryFile("plant-store", ".jsa");

    static {
      ProcessBuilder command = command(CLASS_PATH, "-XX:ArchiveClassesAtExit=" + FILE);
      Map<String, String> environment = assertDoesNotThrow(Database::create).environment();
      try (ServiceProcess service = new ServiceProcess(command, environment)) {
        assertEquals(TERMINATED, service.awaitReady().stop());
      }
      assertTrue(FILE.toFile().length() > 0, "the classes are archived");
    }
  }

  /** The other origin whose pages may call the shared service; a test serves them at its port. */
  static final String ORIGIN = "http://app.example:" + freePort();

  private static @Nullable ServiceProcess shared;

  private final Path output = temporaryFile("plant-store", ".log");
  private final Path errors = temporaryFile("plant-store", ".log");
  private final Process process;

  /** Starts the built service with these arguments without waiting for it. */
  ServiceProcess(Map<String, String> environment, String... arguments) {
    this(java(CLASS_PATH, arguments), environment);
  }

  /** Starts a process without this process' variables and without waiting for it. */
  ServiceProcess(ProcessBuilder builder, Map<String, String> environment) {
    this(builder, environment, null);
  }

  /** As above; with {@link Redirect#PIPE} the output waits until the test reads it. */
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

  /**
   * Returns the service, shared by tests that do not change it. Its settings are the defaults,
   * except that a stranger's token gets 403, and that pages of one other origin may call it.
   */
  static synchronized ServiceProcess shared() {
    ServiceProcess service = shared;
    if (service == null) {
      Map<String, String> settings =
          Map.of("JWT_REQUIRED_CLAIMS", "sub=developer", "CORS_ALLOWED_ORIGINS", ORIGIN);
      service = new ServiceProcess(Database.shared().environment(settings));
      Runtime.getRuntime().addShutdownHook(new Thread(service::close));
      shared = service.awaitReady();
    }
    return service;
  }

  /** Returns the command of a service without expensive optimizations of its code. */
  static ProcessBuilder java(String classPath, String... arguments) {
    ProcessBuilder builder = command(classPath, "-XX:SharedArchiveFile=" + Archive.FILE);
    builder.command().addAll(List.of(arguments));
    return builder;
  }

  private static ProcessBuilder command(String classPath, String archiveOption) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(
        java,
        archiveOption,
        "-Xlog:disable", // Java warns if the classes differ from those of the archive
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        // With digits of its own, which are wrong in JSON and in SQL.
        "-Duser.language=fa",
        "-Duser.country=IR",
        "-cp",
        classPath,
        "org.plantstore.app.Main");
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

  /** Returns the command of a service that has no store but those in front of its class path. */
  static ProcessBuilder withoutPostgres(String front, String... arguments) {
    String classPath =
        Stream.of(CLASS_PATH.split(File.pathSeparator))
            .filter(entry -> !entry.contains("plant-adapter-persistence"))
            .collect(joining(File.pathSeparator, front, ""));
    return java(classPath, arguments);
  }

  ServiceProcess awaitReady() {
    awaitReadiness(200);
    return this;
  }

  void awaitReadiness(int status) {
    await("readiness " + status, () -> readiness() == status);
  }

  boolean isAlive() {
    return process.isAlive();
  }

  int awaitExit() {
    return process.onExit().orTimeout(Await.LIMIT.toSeconds(), TimeUnit.SECONDS).join().exitValue();
  }

  void terminate() {
    process.toHandle().destroy(); // Process.destroy would close its output
  }

  void signal(String name) throws IOException {
    String[] command = {"kill", "-" + name, String.valueOf(process.pid())};
    Program.run(Path.of("."), Map.of(), command).requireSuccess();
  }

  int stop() {
    terminate();
    return awaitExit();
  }

  /** Returns the output of the process, unless it was redirected. */
  String output() {
    return assertDoesNotThrow(() -> Files.readString(output));
  }

  BufferedReader outputReader() {
    return process.inputReader(UTF_8);
  }

  String errors() {
    return assertDoesNotThrow(() -> Files.readString(errors));
  }

  long linesWith(String text) {
    return output().lines().filter(line -> line.contains(text)).count();
  }

  /** Returns the first line of the output with a text; it may come after an answer. */
  String awaitLine(String text) {
    await(text, () -> linesWith(text) > 0);
    return output().lines().filter(line -> line.contains(text)).findFirst().orElseThrow();
  }

  /** Returns when the condition holds; fails the test if it does not, or if the process ends. */
  private void await(String condition, Callable<Boolean> isTrue) {
    Await.until(
        () -> condition + ": " + errors() + output(),
        () -> {
          boolean ended = !process.isAlive();
          boolean holds = isTrue.call();
          assertTrue(holds || !ended, () -> "ended: " + condition + ": " + errors() + output());
          return holds;
        });
  }

  @Override
  public void close() {
    process.destroyForcibly();
    awaitExit();
  }

  private static Path temporaryFile(String prefix, String suffix) {
    Path file = assertDoesNotThrow(() -> Files.createTempFile(prefix, suffix));
    file.toFile().deleteOnExit();
    return file;
  }
}
