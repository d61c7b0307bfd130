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
   * @throws BenchmarkException if it fails
   */
  static String run(Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = Children.start(builder);
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
}
