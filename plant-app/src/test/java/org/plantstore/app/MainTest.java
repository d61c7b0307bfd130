package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The arguments of the program. */
@Execution(ExecutionMode.CONCURRENT)
class MainTest {

  @Test
  void help_names_each_mode_and_each_option() {
    try (ServiceProcess process = new ServiceProcess(Map.of(), "--help")) {
      assertEquals(0, process.awaitExit(), process::errors);
      for (String word :
          List.of("serve", "migrate", "check", "--token", "--json", "--help", "--version")) {
        assertTrue(process.output().contains(word), word);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          migrat  |                | there is no such command
          --port  |                | there is no such command
          migrate | here           | unusable argument
          check   | --xml          | unusable option --xml
          check   | --token canary | unusable argument
          check   | --token=canary | unusable option --token
          """)
  void argument_that_there_is_not_is_refused(
      String command, @Nullable String arguments, String refusal) {
    String[] others = arguments == null ? new String[0] : arguments.split(" ", -1);
    ConfigurationException refused =
        assertThrows(ConfigurationException.class, () -> Main.run(command, others));
    assertEquals(refusal + "; see plant-store --help", refused.getMessage());
  }

  @Test
  void refused_argument_ends_the_process() {
    try (ServiceProcess process = new ServiceProcess(Map.of(), "serve", "here")) {
      assertEquals(1, process.awaitExit());
      assertEquals(
          "plant-store does not start: unusable argument; see plant-store --help\n",
          process.errors());
      assertEquals("", process.output());
    }
  }
}
