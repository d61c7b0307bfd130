package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** Programs that tests run; a test without its program is skipped. */
final class Program {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  /** The exit code of a program that SIGKILL has ended. */
  private static final int KILLED = 137;

  /** No proxies, and no options of Java, Node.js or Python, which belong to the machine. */
  private static final Set<String> INHERITED = Set.of("PATH", "HOME", "TMPDIR");

  static final Path TARGET = Path.of("target").toAbsolutePath();

  /** The folder in which {@code npm ci} installs packages. */
  static final Path JAVASCRIPT = Path.of("src", "test", "javascript").toAbsolutePath();

  private Program() {}

  /** A program that has ended; the output contains standard error. */
  record Ended(int exitCode, String output) {

    void requireSuccess() {
      Assertions.assertEquals(0, exitCode, output);
    }
  }

  /** Runs a program to its end; one that takes too long is killed. */
  static Ended run(Path folder, Map<String, String> environment, String... command)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().keySet().retainAll(INHERITED);
    builder.environment().putAll(environment);
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    CompletableFuture.delayedExecutor(LIMIT.toSeconds(), TimeUnit.SECONDS)
        .execute(() -> {
          if (process.isAlive()) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
          }
        });
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Ended(process.onExit().join().exitValue(), output);
  }

  /** Starts a program whose output is in a file of this folder; skips the test if it is absent. */
  static Process start(Path folder, List<String> command) throws IOException {
    requireInstalled(command.get(0));
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("output").toFile())
        .start();
  }

  /** Returns the first of these programs that is installed; skips the test if none is. */
  static String requireInstalled(String... names) {
    for (String name : names) {
      String[] search = {"sh", "-c", "command -v " + name};
      Ended found = Assertions.assertDoesNotThrow(() -> run(Path.of("."), Map.of(), search));
      if (found.exitCode() == 0) {
        return found.output().strip();
      }
    }
    return Assumptions.abort(String.join(" or ", names) + " is not installed");
  }

  /**
   * Runs a test of Node.js against the shared service, with these further variables. A browser
   * seldom hangs for ever, when it starts or ends; then the test is run once more.
   */
  static void runNodeTest(Path folder, String test, Map<String, String> others) throws IOException {
    Map<String, String> environment = new HashMap<>(others);
    environment.put("BASE", ServiceProcess.shared().address().toString());
    environment.put("TOKEN", ServiceProcess.token());
    Ended ended = run(folder, environment, "node", "--test", test);
    if (ended.exitCode == KILLED) {
      ended = run(folder, environment, "node", "--test", test);
    }
    ended.requireSuccess();
  }

  /** Skips the test unless Node.js and the packages of {@link #JAVASCRIPT} are installed. */
  static void requireNode() {
    requireInstalled("node");
    Assumptions.assumeTrue(
        Files.isDirectory(JAVASCRIPT.resolve("node_modules")),
        "npm ci has not been run in plant-app/src/test/javascript");
  }
}
