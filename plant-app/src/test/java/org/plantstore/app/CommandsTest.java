package org.plantstore.app;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertLinesMatch;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.app.development.DevelopmentKey;

/** Runs the program's commands as processes, in particular {@code check}. */
class CommandsTest {

  private static final String OBJECTS = "SELECT count(*) FROM pg_class";

  @TempDir Path folder;

  /** Standard output contains nothing but the command's output. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          check --help                 | 0 | plant-store .*check .*--token .*DATABASE_URL.*PLANT_STORE_AOT.*
          token --minutes=5            | 0 | [^.]+\\.[^.]+\\.[^.]+\\n
          token --jwt-secret=canary    | 1 | plant-store token: JWT_SECRET must have at least 32 bytes, but has 6\\n
          """)
  void valid_command_runs_and_an_invalid_one_is_refused(
      String line, int exitCode, String expected) {
    Map<String, String> secret = Map.of("JWT_SECRET", DevelopmentKey.SECRET, "LOG_LEVEL", "debug");
    try (ServiceProcess process = new ServiceProcess(secret, line.split(" ", -1))) {
      assertEquals(exitCode, process.awaitExit(), process::errors);
      assertEquals("", exitCode == 0 ? process.errors() : process.output());
      String text = exitCode == 0 ? process.output() : process.errors();
      assertTrue(text.matches("(?s)" + expected), text);
    }
  }

  @ParameterizedTest
  @CsvSource({"verify, see plant-store --help", "migrat, did you mean migrate?"})
  void unknown_command_is_refused_with_the_most_similar_one_if_any(String command, String remedy) {
    assertEquals(
        "there is no such command; " + remedy,
        Main.reasonFor(assertThrows(ConfigurationException.class, () -> Main.parts(command))));
  }

  @Test
  void check_of_a_working_configuration_reports_no_fault_and_changes_nothing() throws Exception {
    Database database = Database.create();
    String objects = database.single(OBJECTS);
    String token = ServiceProcess.token();

    String output = check(0, database.environment(), token);
    assertTrue(output.lines().allMatch(line -> line.startsWith("✔ ")), output);
    assertEquals(
        "java service settings certificate tokens token database",
        output
            .lines()
            .map(line -> line.replaceAll("^. |:.*", ""))
            .distinct()
            .collect(joining(" ")));
    assertFalse(output.contains(token), output);
    assertEquals(objects, database.single(OBJECTS));
  }

  @Test
  void check_reports_each_fault_with_its_remedy() throws Exception {
    Map<String, String> settings =
        Database.create()
            .environment(
                "PORT", "8080",
                "LOG_FORMAT", "json",
                "JWT_JWKS_URL", "http://localhost:1/canary");
    String expired = DevelopmentKey.token(Duration.ofHours(-1));
    String output =
        check(1, settings, expired, "--port=0", "--max-body-bytes=1MB", "--database-migrate=off");
    assertLinesMatch(
        List.of(
            "✘ service: PORT must be a port from 1 to 65535, but is \"0\"",
            "✘ settings: MAX_BODY_BYTES must be a whole number from 1 to 999999999, but is \"1MB\"",
            "✘ provider: .*",
            "✘ token: The bearer token expired at .*",
            "✘ database: there is no table plant in the search_path of .*; run plant-store migrate,"
                + " and then accounts.sql"),
        output.lines().filter(line -> line.startsWith("✘")).toList(),
        output);
    assertFalse(output.contains("canary"), output);
  }

  /**
   * The setting is checked before any class that logs is loaded, because Logback would report the
   * failure on many lines.
   */
  @Test
  void unusable_log_setting_is_reported_on_one_line() throws Exception {
    try (ServiceProcess command =
        new ServiceProcess(ServiceProcess.java(List.of("token")), Map.of("LOG_FORMAT", "JSON"))) {
      assertEquals(1, command.awaitExit());
      assertEquals(
          "plant-store token: LOG_FORMAT must be text or json, but is \"JSON\"",
          (command.output() + command.errors()).strip());
    }
  }

  @Test
  @Tag("newest")
  void doubtful_settings_cause_warnings_at_startup_and_in_check() throws Exception {
    Map<String, String> settings =
        Database.create()
            .environment(
                "JWT_AUDIENCES", "canary",
                "DATABASE_PORT", "tcp://10.0.0.1:5432",
                "CREATE_TIMEOUT_SECONDS", "60");
    List<String> warnings =
        List.of(
            "JWT_AUDIENCES has no effect, because there is no setting with this name; did you mean"
                + " JWT_AUDIENCE?",
            "the maximum heap \\(-Xmx\\) is 64 MB, but should be at least 128 MB",
            "CREATE_TIMEOUT_SECONDS is 60, but should be greater than DATABASE_TIMEOUT_SECONDS, which"
                + " is 60; otherwise, the service may respond with an error even though the"
                + " plant has been stored");
    String small = "-Xmx64m";
    try (ServiceProcess check =
            new ServiceProcess(ServiceProcess.java(List.of("check"), small), settings);
        ServiceProcess service =
            new ServiceProcess(ServiceProcess.java(List.of(), small), settings).awaitReady()) {
      assertEquals(0, check.awaitExit(), check::output);
      assertLinesMatch(warnings, withoutStart(check.lines("⚠"), "⚠ (service|database): "));
      assertLinesMatch(
          warnings, withoutStart(service.lines(" WARN "), ".* - Check the configuration: "));
      assertFalse((check.output() + service.output()).contains("canary"));
    }
  }

  private static List<String> withoutStart(List<String> lines, String start) {
    return lines.stream().map(line -> line.replaceFirst(start, "")).toList();
  }

  /** Runs {@code check} with these settings and a token, and returns its output. */
  private String check(
      int exitCode, Map<String, String> settings, String token, String... arguments)
      throws IOException {
    ProcessBuilder builder = ServiceProcess.java(List.of("check", "--token"));
    builder.command().addAll(List.of(arguments));
    builder.redirectInput(Files.writeString(folder.resolve("token"), token).toFile());
    try (ServiceProcess check = new ServiceProcess(builder, settings)) {
      assertEquals(exitCode, check.awaitExit(), check::output);
      assertEquals("", check.errors());
      return check.output();
    }
  }
}
