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
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.app.development.DevelopmentKey;

/** The arguments of the program, and the commands that test a configuration and migrate. */
@Execution(ExecutionMode.CONCURRENT)
class CommandsTest {

  private static final String OBJECTS = "SELECT count(*) FROM pg_class";

  @TempDir Path folder;

  @Test
  void help_has_each_command_and_option_and_all_settings_with_their_defaults() throws IOException {
    String help = Help.text();
    String words = "serve migrate check --token token --subject --minutes --claim --help --version";
    for (String word : words.split(" ", -1)) {
      assertTrue(help.contains(word), word);
    }
    Map<String, String> settings = new HashMap<>();
    Pattern.compile("(?m)^  ([A-Z_, ]+) \\((.*)\\)\n      .+$")
        .matcher(help)
        .results()
        .forEach(setting -> {
          for (String name : setting.group(1).split(", ", -1)) {
            settings.put(name, setting.group(2).replaceFirst(";.*", ""));
          }
        });
    Map<String, String> documented = new HashMap<>(Manifests.documentedDefaults());
    documented.replaceAll((name, text) -> text.replace("`", "").replaceFirst(";.*", ""));
    assertEquals(documented, settings);
  }

  @Test
  void output_of_a_command_is_alone_on_standard_output() {
    Map<String, String> secret = Map.of("JWT_SECRET", DevelopmentKey.SECRET, "LOG_LEVEL", "debug");
    for (String line : List.of("--help", "token --minutes=5 --claim=a=b")) {
      try (ServiceProcess process = new ServiceProcess(secret, line.split(" ", -1))) {
        assertEquals(0, process.awaitExit(), process::errors);
        assertEquals("", process.errors());
        String first = process.output().lines().findFirst().orElseThrow();
        assertTrue(first.matches("plant-store .*|[^.]+\\.[^.]+\\.[^.]+"), first);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          migrat               | there is no such command
          check --token canary | unusable argument
          token --minutes      | unusable option --minutes
          """)
  void argument_that_there_is_not_is_refused(String line, String refusal) {
    String[] words = line.split(" ", -1);
    String[] others = Arrays.copyOfRange(words, 1, words.length);
    ConfigurationException refused =
        assertThrows(ConfigurationException.class, () -> Main.run(words[0], others));
    assertEquals(refusal + "; see plant-store --help", refused.getMessage());
  }

  @Test
  @Tag("slow")
  void migration_ends_with_one_line_that_says_whether_the_tables_are_up_to_date() throws Exception {
    Database database = Database.create();
    Map<String, String> owner = database.environment();
    owner.remove("JWT_SECRET");

    try (ServiceProcess migration = new ServiceProcess(owner, "migrate")) {
      assertEquals(0, migration.awaitExit(), migration::errors);
      assertEquals("", migration.errors());
      assertTrue(migration.output().endsWith("The tables are up to date.\n"), migration::output);
      // The digits of the default locale are others.
      assertTrue(migration.output().matches("\\p{ASCII}*"), migration::output);
    }

    // Flyway reports a changed migration in several lines, the command in one.
    database.execute("UPDATE flyway_schema_history SET checksum = 1");
    String reason = "the tables of the database cannot be brought up to date: ";
    try (ServiceProcess migration = new ServiceProcess(owner, "migrate")) {
      assertEquals(1, migration.awaitExit());
      String errors = migration.errors();
      assertTrue(errors.matches("plant-store migrate: " + reason + ".*\n"), errors);
    }
  }

  @Test
  void configuration_that_works_has_good_findings_alone_and_nothing_is_changed() throws Exception {
    Database database = Database.create();
    Map<String, String> settings = database.environment();
    String objects = database.single(OBJECTS);
    String token = ServiceProcess.token();

    try (ServiceProcess check = check(settings, token, "--token")) {
      assertEquals(0, check.awaitExit(), check::output);
      assertEquals("", check.errors());
      String output = check.output();
      assertTrue(output.lines().allMatch(line -> line.startsWith("✔ ")), output);
      assertEquals(
          "java service settings certificate tokens token database",
          output
              .lines()
              .map(line -> line.replaceAll("^. |:.*", ""))
              .distinct()
              .collect(joining(" ")));
      assertFalse(output.contains(token), output);
    }
    assertEquals(objects, database.single(OBJECTS));
  }

  @Test
  void each_part_that_does_not_work_is_named_with_what_to_do() throws Exception {
    Map<String, String> settings =
        Database.create()
            .environment(
                Map.of(
                    "PORT", "0",
                    "LOG_FORMAT", "json",
                    "JWT_JWKS_URL", "http://localhost:1/canary",
                    "MAX_BODY_BYTES", "1MB",
                    "DATABASE_MIGRATE", "off"));
    String token = DevelopmentKey.token(Duration.ofHours(-1));
    try (ServiceProcess check = check(settings, token, "--token")) {
      assertEquals(1, check.awaitExit());
      assertLinesMatch(
          List.of(
              "✘ service: PORT must be a port from 1 to 65535, but is \"0\"",
              "✘ settings: MAX_BODY_BYTES must be a whole number from 1 to 999999999, but is"
                  + " \"1MB\"",
              "✘ provider: .*",
              "✘ token: the token on standard input cannot be used: it has expired",
              "✘ database: there is no table plant for .*; run plant-store migrate, and"
                  + " accounts.sql after it"),
          check.output().lines().filter(line -> line.startsWith("✘")).toList(),
          check.output());
      assertFalse(check.output().contains("canary"), check.output());
    }
  }

  private ServiceProcess check(Map<String, String> settings, String input, String... options)
      throws IOException {
    ProcessBuilder builder = ServiceProcess.java(ServiceProcess.CLASS_PATH, "check");
    builder.command().addAll(List.of(options));
    builder.redirectInput(Files.writeString(folder.resolve("input"), input).toFile());
    return new ServiceProcess(builder, settings);
  }
}
