package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Runs programs for tests. A test whose program is not installed is skipped. */
final class Program {

  /**
   * The variables that programs inherit. Variables that configure proxies, Java, Node.js, or Python
   * are not inherited, because they differ between machines.
   */
  private static final Set<String> INHERITED = Set.of("PATH", "HOME", "TMPDIR");

  private Program() {}

  /** The result of a program that has exited. The output includes standard error. */
  record Result(int exitCode, String output) {

    void requireSuccess() {
      assertEquals(0, exitCode, output);
    }
  }

  /** Runs a program until it exits, and kills it if it takes longer than seven minutes. */
  static Result run(Path folder, Map<String, String> environment, String... command)
      throws IOException {
    Path output = Files.createTempFile("output", "");
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().keySet().retainAll(INHERITED);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true).redirectOutput(output.toFile());
    Process process = builder.start();
    process.getOutputStream().close();
    try {
      assertDoesNotThrow(() -> process.waitFor(7, TimeUnit.MINUTES));
    } finally { // also kills the program if the test reaches its own time limit
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().onExit().join();
    }
    String text = Files.readString(output);
    Files.delete(output);
    return new Result(process.exitValue(), text);
  }

  /**
   * Starts a program that writes to the file {@code output} in this folder. Skips the test if the
   * program is not installed.
   */
  static Process start(Path folder, String... command) throws IOException {
    requireInstalled(command[0]);
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("output").toFile())
        .start();
  }

  /** Returns the first of these programs that is installed, or skips the test if none is. */
  static String requireInstalled(String... names) {
    for (String name : names) {
      String[] search = {"sh", "-c", "command -v " + name};
      Result found = assertDoesNotThrow(() -> run(Path.of("."), Map.of(), search));
      if (found.exitCode() == 0) {
        return found.output().strip();
      }
    }
    return Assumptions.abort(String.join(" or ", names) + " is not installed");
  }
}
