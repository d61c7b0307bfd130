package org.plantstore.app;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextConfiguration;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.env.PropertySource.Origin;
import io.micronaut.context.env.PropertySource.PropertyConvention;
import io.micronaut.runtime.EmbeddedApplication;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A start with wrong settings ends with one line that says what to change. */
class StartTest {

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
          PORT              | http | PORT must be a port from 1 to 65535, but is "http"
          TLS_KEY           | /tls.key | TLS_CERTIFICATE and TLS_KEY must both be set or neither, but TLS_CERTIFICATE is not
          MICRONAUT_SERVER_PORT | 0 | PORT must be a port from 1 to 65535, but is "0"
          DRAIN_SECONDS     | -1 | DRAIN_SECONDS must be a whole number from 0 to 9999, but is "-1"
          LOG_LEVEL         | WARN | LOG_LEVEL must be info or debug or warn, but is "WARN"
          LISTEN_ADDRESS    | '' | LISTEN_ADDRESS must have a value or not be set, but is empty
          """)
  void unusable_setting_is_named(String variable, @Nullable String value, String message) {
    assertEquals(message, refusalWith(variable, value));
  }

  /** The characters are named, because they cannot be seen, or the rest is secret. */
  @ParameterizedTest
  @CsvSource({
    "DATABASE_USERNAME, '\tplants', CHARACTER TABULATION",
    "JWT_SECRET, '\u201ccanary-secret-of-32-bytes-or-more', LEFT DOUBLE QUOTATION MARK",
    "MANAGEMENT_PORT, '18\u001b[31m081', ESCAPE"
  })
  void character_that_cannot_be_seen_is_named(String variable, String value, String character) {
    assertEquals(
        variable
            + " must have no space or quote at its ends, and no control character, but has "
            + character,
        refusalWith(variable, value));
  }

  /** A replacement character for each byte could be guessed. */
  @Test
  @Tag("newest")
  void bytes_that_the_locale_does_not_decode_are_refused() {
    ProcessBuilder java = ServiceProcess.java(ServiceProcess.CLASS_PATH);
    String bytes = "\\303\\244-secret-of-32-bytes-or-more-canary";
    String set = "export JWT_SECRET=$(printf '" + bytes + "'); exec \"$@\"";
    java.command().addAll(0, List.of("/bin/sh", "-c", set, "sh"));
    assertEquals(
        "JWT_SECRET must be UTF-8, read in a locale such as LC_ALL=C.UTF-8; this one is"
            + " ANSI_X3.4-1968",
        refusalOf(java, Map.of("LC_ALL", "C")));
  }

  @Test
  void each_documented_variable_is_declared_and_no_other() {
    Set<String> documented = new HashSet<>(Manifests.documentedDefaults().keySet());
    documented.removeAll(Set.of("JAVA_HOME", "JAVA_OPTS", "PLANT_STORE_AOT")); // of the script
    ApplicationContextConfiguration declared =
        (ApplicationContextConfiguration) ApplicationContext.builder();
    assertEquals(documented, Set.copyOf(requireNonNull(declared.getEnvironmentVariableIncludes())));
  }

  /** The first value is too large; with the second the start fails later, at the database. */
  @ParameterizedTest
  @Tag("newest")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2097153 | MAX_BODY_BYTES must be at most 2097152, a thirty-second of the heap (-Xmx), but is 2097153
          2097152 | the database cannot be used; check DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and the server:
          """)
  void start_that_fails_ends_with_one_line_and_opens_no_port(String maxBodyBytes, String reason) {
    ProcessBuilder java = ServiceProcess.java(ServiceProcess.CLASS_PATH);
    // Other collectors do not count all of the heap.
    List<String> options = List.of("-Xmx64m", "-XX:-UseSerialGC", "-XX:+UseG1GC");
    java.command().addAll(java.command().indexOf("-cp"), options);
    String refusal = refusalOf(java, Map.of("MAX_BODY_BYTES", maxBodyBytes));
    assertTrue(refusal.startsWith(reason), refusal);
    assertFalse(refusal.contains("canary"), refusal);
  }

  /** Returns why a process does not start, which opens no port and writes one line. */
  private static String refusalOf(ProcessBuilder java, Map<String, String> others) {
    Map<String, String> environment = new HashMap<>(COMPLETE);
    environment.putAll(others);
    try (ServiceProcess service = new ServiceProcess(java, environment)) {
      Await.until(
          "the process ends",
          () -> {
            assertFalse(service.isOpen(), "the port is open");
            return !service.isAlive();
          });
      assertEquals(1, service.awaitExit());
      // The database is asked after the first line.
      assertTrue(service.output().lines().allMatch(line -> line.contains(" starts on Java ")));
      String errors = service.errors();
      assertTrue(errors.matches("plant-store does not start: .*\n"), errors);
      return errors.strip().replaceFirst("plant-store does not start: ", "");
    }
  }

  @Test
  void port_that_is_used_twice_is_named() {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    variables.putAll(Map.of("PORT", "18080", "MANAGEMENT_PORT", "18080"));
    assertEquals("PORT and MANAGEMENT_PORT must differ, but both are 18080", refusal(variables));
  }

  @ParameterizedTest
  @CsvSource({
    "secret, ANSI_X3.4-1968, Linux, true",
    "s\u00e9cret, ANSI_X3.4-1968, Linux, false",
    "s\u00e9cret, UTF-8, Linux, true",
    "s\uFFFDcret, UTF-8, Linux, false",
    "s\u00e9cret, Cp1252, Windows 11, true"
  })
  void setting_is_decoded_in_utf_8_or_by_windows(
      String value, String charset, String system, boolean isExact) {
    assertEquals(isExact, LegibleSettings.isDecodedExactly(value, charset, system));
  }

  private static String refusalWith(String variable, @Nullable String value) {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    variables.remove(variable);
    if (value != null) {
      variables.put(variable, value);
    }
    return refusal(variables);
  }

  static String refusal(Map<String, String> variables) {
    return Main.reasonFor(assertThrows(Exception.class, () -> start(variables)));
  }

  /** Starts and stops the service in this process as {@link Main} does. */
  static void start(Map<String, String> settings) {
    try (ApplicationContext context = contextOf(settings)) {
      context.getBean(EmbeddedApplication.class).start();
    }
  }

  /** Returns the beans of a service in this process, whose server is not started yet. */
  static ApplicationContext contextOf(Map<String, String> settings) {
    Map<String, Object> variables = new HashMap<>(settings);
    for (String port : List.of("PORT", "MANAGEMENT_PORT")) {
      variables.computeIfAbsent(port, unset -> String.valueOf(ServiceClient.freePort()));
    }
    LegibleSettings.require(settings);
    return ApplicationContext.builder()
        .environmentPropertySource(false)
        .propertySources(
            PropertySource.of(
                "environment",
                variables,
                PropertyConvention.ENVIRONMENT_VARIABLE,
                Origin.of("environment")))
        .start();
  }
}
