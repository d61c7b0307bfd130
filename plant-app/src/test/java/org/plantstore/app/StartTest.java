package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A start that cannot work: one line that says what to change, an exit code that is not 0, soon,
 * and no port is ever opened.
 */
class StartTest {

  /** Many times what it takes, for a machine that has other things to do. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final Map<String, String> COMPLETE =
      Map.of(
          "DATABASE_URL", "jdbc:postgresql://localhost:1/plants",
          "DATABASE_USERNAME", "plants",
          "DATABASE_PASSWORD", "canary-password",
          "JWT_SECRET", "canary-secret-of-32-bytes-or-more",
          "DATABASE_START_TIMEOUT_SECONDS", "0");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          DATABASE_URL      | | DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but DATABASE_URL is not
          DATABASE_USERNAME | | DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but DATABASE_USERNAME is not
          DATABASE_PASSWORD | | DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but DATABASE_PASSWORD is not
          DATABASE_URL      | mysql://localhost/plants | DATABASE_URL must be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants
          DATABASE_URL      | jdbc:postgresql://plants:canary@localhost/plants | DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          DATABASE_URL      | jdbc:postgresql://localhost/plants?ssl=true&socketTimeout=0 | DATABASE_URL must not set time-outs; they follow from DATABASE_TIMEOUT_SECONDS
          DATABASE_URL      | jdbc:postgresql://localhost:99999/plants | DATABASE_URL must be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants
          JWT_SECRET        | | one of JWT_SECRET and JWT_JWKS_URL must be set, but none is
          JWT_JWKS_URL      | https://issuer.example/keys | one of JWT_SECRET and JWT_JWKS_URL must be set, but both are
          JWT_SECRET        | ${canary}-secret | JWT_SECRET must have at least 32 bytes, but has 16
          PORT              | 0 | PORT must be a port from 1 to 65535, but is 0
          PORT              | http | PORT must be a port from 1 to 65535, but is http
          MANAGEMENT_PORT   | 65536 | MANAGEMENT_PORT must be a port from 1 to 65535, but is 65536
          MAX_BODY_BYTES    | 1MB | MAX_BODY_BYTES must be a whole number from 1 to 999999999, but is 1MB
          DRAIN_SECONDS     | -1 | DRAIN_SECONDS must be a whole number from 0 to 9999, but is -1
          DATABASE_TIMEOUT_SECONDS | 0 | DATABASE_TIMEOUT_SECONDS must be a whole number from 1 to 60, but is 0
          DATABASE_TIMEOUT_SECONDS | 5s | DATABASE_TIMEOUT_SECONDS must be a whole number from 1 to 60, but is 5s
          DATABASE_START_TIMEOUT_SECONDS | 3601 | DATABASE_START_TIMEOUT_SECONDS must be a whole number from 0 to 3600, but is 3601
          LOG_FORMAT        | xml | LOG_FORMAT must be text or json, but is xml
          ACCESS_LOG        | yes | ACCESS_LOG must be off or on, but is yes
          """)
  @Tag("slow")
  void unusable_setting_is_named(String variable, String value, String message) {
    Map<String, String> environment = new HashMap<>(COMPLETE);
    environment.remove(variable);
    if (value != null) {
      environment.put(variable, value);
    }

    assertEquals("plant-store does not start: " + message + "\n", refusal(environment));
  }

  @Test
  void equal_ports_contradict_each_other() {
    Map<String, String> environment = new HashMap<>(COMPLETE);
    environment.put("PORT", "18080");
    environment.put("MANAGEMENT_PORT", "18080");

    assertEquals(
        "plant-store does not start: PORT and MANAGEMENT_PORT must differ, but both are 18080\n",
        refusal(environment));
  }

  @Test
  void body_that_the_heap_does_not_carry_is_refused() {
    Map<String, String> environment = new HashMap<>(COMPLETE);
    environment.put("JDK_JAVA_OPTIONS", "-Xmx64m -XX:+UseG1GC"); // others do not count all of it
    environment.put("MAX_BODY_BYTES", "4194305");
    String refusal = refusal(environment);
    environment.put("MAX_BODY_BYTES", "4194304");
    String refusalOfTheDatabase = refusal(environment);

    assertTrue(
        refusal.endsWith(
            "plant-store does not start: MAX_BODY_BYTES must be at most 4194304, a sixteenth of the"
                + " heap (-Xmx), but is 4194305\n"),
        refusal);
    assertTrue(
        refusalOfTheDatabase.contains("does not start: the database cannot be used"),
        refusalOfTheDatabase);
  }

  @Test
  void database_that_does_not_answer_is_named() {
    String refusal = refusal(COMPLETE);

    assertTrue(
        refusal.startsWith(
            "plant-store does not start: the database cannot be used; check DATABASE_URL,"
                + " DATABASE_USERNAME, DATABASE_PASSWORD and the server: "),
        refusal);
    assertEquals(1, refusal.lines().count(), refusal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PORT", "MANAGEMENT_PORT"})
  void port_that_is_taken_is_named(String variable) throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      Map<String, String> environment = new HashMap<>(COMPLETE);
      environment.put(variable, String.valueOf(taken.getLocalPort()));

      String refusal = refusal(environment, !variable.equals("PORT"));

      assertTrue(
          refusal.startsWith(
              "plant-store does not start: "
                  + variable
                  + " must be a free port, but "
                  + taken.getLocalPort()
                  + " cannot be opened: "),
          refusal);
      assertEquals(1, refusal.lines().count(), refusal);
    }
  }

  private static String refusal(Map<String, String> environment) {
    return refusal(environment, true);
  }

  private static String refusal(Map<String, String> environment, boolean portMustStayClosed) {
    long start = System.nanoTime();
    try (ServiceProcess service = new ServiceProcess(environment)) {
      while (service.isAlive()) {
        assertFalse(portMustStayClosed && service.isOpen(), "the port is open");
        LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
      }
      Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
      assertEquals(1, service.awaitExit(LIMIT));
      assertTrue(elapsed.compareTo(LIMIT) < 0, "took " + elapsed);
      assertEquals("", service.output());
      assertFalse(service.errors().contains("canary"), service.errors());
      return service.errors();
    }
  }
}
