package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertLinesMatch;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.app.development.DevelopmentKey;

/** The command that tests a configuration before a roll-out. */
@Execution(ExecutionMode.CONCURRENT)
class CheckTest {

  private static final String OBJECTS = "SELECT count(*) FROM pg_class";

  @TempDir Path folder;

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
          List.of("service", "java", "limits", "certificate", "tokens", "token", "database"),
          output.lines().map(line -> line.replaceAll("^. |:.*", "")).distinct().toList());
      assertFalse(output.contains(token), output);
    }
    assertEquals(objects, database.single(OBJECTS));
  }

  @Test
  void each_part_that_does_not_work_is_named_with_what_to_do() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      String port = String.valueOf(taken.getLocalPort());
      Map<String, String> settings =
          Database.create()
              .environment(
                  Map.of(
                      "PORT", port,
                      "LOG_FORMAT", "json",
                      "MAX_BODY_BYTES", "1MB",
                      "DATABASE_MIGRATE", "off"));
      String token = DevelopmentKey.token(Duration.ofHours(-1));
      try (ServiceProcess check = check(settings, token, "--token")) {
        assertEquals(1, check.awaitExit());
        assertLinesMatch(
            List.of(
                "✘ service: PORT must be a free port, but " + port + " cannot be opened: .*",
                "✘ limits: MAX_BODY_BYTES must be a whole number from 1 to 999999999, but is \"1MB\"",
                "✘ token: the token on standard input is invalid; obtain a new token: Expired JWT",
                "✘ database: there is no table plant for .*; run plant-store migrate, and accounts.sql after it"),
            check.output().lines().filter(line -> line.startsWith("✘")).toList(),
            check.output());
      }
    }
  }

  /** A wrong variable of the logging configuration does not prevent the other checks. */
  @Test
  void machines_get_one_document() throws IOException {
    Map<String, String> settings =
        Map.of(
            // Of which the framework would try each combination of dots and hyphens.
            "LESS_OPTION_".repeat(20),
            "1",
            "LOG_FORMAT",
            "\"",
            "DATABASE_URL",
            "jdbc:postgresql://localhost:1/plants?sslpassword=canary",
            "DATABASE_USERNAME",
            "plants",
            "DATABASE_PASSWORD",
            "canary",
            "JWT_JWKS_URL",
            "http://localhost:1/canary");
    try (ServiceProcess check = check(settings, "canary", "--json", "--token")) {
      assertEquals(1, check.awaitExit());
      assertFalse((check.output() + check.errors()).contains("canary"), check::output);
      JsonNode document = new ObjectMapper().readTree(check.output());
      assertFalse(document.get("ok").booleanValue());
      JsonNode finding = document.get("findings").get(0);
      assertEquals(
          new ObjectMapper()
              .createObjectNode()
              .put("ok", false)
              .put("subject", "service")
              .put("text", "LOG_FORMAT must be text or json, but is \"\"\""),
          finding);
      assertEquals(
          List.of("service", "provider", "token", "database"),
          document.get("findings").findParents("ok").stream()
              .filter(each -> !each.get("ok").booleanValue())
              .map(each -> each.get("subject").textValue())
              .toList());
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
