package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Another program, run to its end. */
final class Command {

  private Command() {}

  /**
   * Answers what the program writes on both of its outputs.
   *
   * @throws BenchmarkException if it fails or is not there
   */
  static String run(Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    // Such a variable could have pgbench measure other things, such as commits that do not wait.
    builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
    builder.environment().putAll(environment);
    Process process = start(builder);
    try {
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new BenchmarkException(
            String.join(" ", command) + " failed (" + process.exitValue() + "): " + output.strip());
      }
      return output;
    } finally {
      Children.end(process);
    }
  }

  private static Process start(ProcessBuilder builder) {
    try {
      return Children.start(builder);
    } catch (IOException e) {
      throw new BenchmarkException(builder.command().get(0) + " cannot be run: " + e.getMessage());
    }
  }
}
