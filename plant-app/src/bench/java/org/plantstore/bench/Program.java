package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Runs programs that are installed on this machine. */
final class Program {

  /** The folder that contains the classes and resources of this benchmark. */
  static final Path CLASSES =
      Path.of(
          URI.create(
              Objects.requireNonNull(Program.class.getProtectionDomain().getCodeSource())
                  .getLocation()
                  .toString()));

  private Program() {}

  /**
   * Runs a program, waits until it exits, and returns its output.
   *
   * @param environment all environment variables except {@code PATH}
   * @param command the program and its options, separated by spaces
   * @param arguments further arguments, which may contain spaces
   * @throws IllegalStateException if the program exits with a nonzero code
   */
  static String run(Map<String, String> environment, String command, Object... arguments)
      throws IOException, InterruptedException {
    Process process = builder(environment, command, arguments).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(command + " has failed: " + output);
    }
    return output;
  }

  /** Returns a builder for a process that writes its errors to standard output. */
  static ProcessBuilder builder(
      Map<String, String> environment, String command, Object... arguments) {
    ProcessBuilder builder = new ProcessBuilder(command.split(" ")).redirectErrorStream(true);
    for (Object argument : arguments) {
      builder.command().add(argument.toString());
    }
    // Other variables, such as PGOPTIONS and JAVA_TOOL_OPTIONS, could change the results.
    builder.environment().keySet().retainAll(Set.of("PATH"));
    builder.environment().putAll(environment);
    return builder;
  }
}
