package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
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
    try (ServiceProcess process = ServiceProcess.of(Map.of(), "--help")) {
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
          migrat       | migrat: there is no such command
          --port       | --port: there is no such command
          serve here   | does not start: unusable argument
          migrate here | migrate: unusable argument
          check --xml  | check: unusable option --xml
          check --token canary | check: unusable argument
          check --token=canary | check: unusable option --token
          """)
  void argument_that_there_is_not_is_refused(String arguments, String refusal) {
    try (ServiceProcess process = ServiceProcess.of(Map.of(), arguments.split(" ", -1))) {
      assertEquals(1, process.awaitExit());
      assertEquals("plant-store " + refusal + "; see plant-store --help\n", process.errors());
      assertEquals("", process.output());
    }
  }
}
