package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the program does with its arguments. */
@Execution(ExecutionMode.CONCURRENT)
class MainTest {

  @Test
  void help_names_each_mode_and_each_option() {
    try (ServiceProcess process = ServiceProcess.of(Map.of(), "--help")) {
      assertEquals(0, process.awaitExit(), process::errors);
      assertEquals(
          """
          plant-store [serve]   serves until SIGTERM
          plant-store migrate   brings the tables up to date, and ends
          plant-store check     says whether these settings work here, changes nothing, and ends:
                                exit code 0 if all is as it should be, otherwise 1
                      --token   also checks the token on standard input
                      --json    writes one JSON document

          plant-store --help, plant-store --version

          Settings are environment variables, such as DATABASE_URL; plant-app/docs/configuration.md
          lists them. Arguments such as --port=8080 override them.
          """,
          process.output());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          migrat       | migrat: there is no such command
          --port       | --port: there is no such command
          serve here   | does not start: there is no option here
          migrate here | migrate: there is no option here
          check --xml  | check: there is no option --xml
          """)
  void argument_that_there_is_not_is_refused(String arguments, String refusal) {
    try (ServiceProcess process = ServiceProcess.of(Map.of(), arguments.split(" ", -1))) {
      assertEquals(1, process.awaitExit());
      assertEquals("plant-store " + refusal + "; see plant-store --help\n", process.errors());
      assertEquals("", process.output());
    }
  }
}
