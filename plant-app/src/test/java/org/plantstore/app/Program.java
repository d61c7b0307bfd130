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

/** Programs that tests run; a test without its program is skipped. */
final class Program {

  /** No proxies, and no options of Java, Node.js or Python, which belong to the machine. */
  private static final Set<String> INHERITED = Set.of("PATH", "HOME", "TMPDIR");

  private Program() {}

  /** A program that has ended; the output contains standard error. */
  record Ended(int exitCode, String output) {

    void requireSuccess() {
      assertEquals(0, exitCode, output);
    }
  }

  /** Runs a program to its end; one that takes too long is killed. */
  static Ended run(Path folder, Map<String, String> environment, String... command)
      throws IOException {
    Path output = Files.createTempFile("output", "");
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().keySet().retainAll(INHERITED);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true).redirectOutput(output.toFile());
    Process process = builder.start();
    process.getOutputStream().close();
    try {
      if (!assertDoesNotThrow(() -> process.waitFor(3, TimeUnit.MINUTES))) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
      }
      return new Ended(process.exitValue(), Files.readString(output));
    } finally {
      Files.delete(output);
    }
  }

  /** Starts a program whose output is in a file of this folder; skips the test if it is absent. */
  static Process start(Path folder, String... command) throws IOException {
    requireInstalled(command[0]);
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
      Ended found = assertDoesNotThrow(() -> run(Path.of("."), Map.of(), search));
      if (found.exitCode() == 0) {
        return found.output().strip();
      }
    }
    return Assumptions.abort(String.join(" or ", names) + " is not installed");
  }
}
