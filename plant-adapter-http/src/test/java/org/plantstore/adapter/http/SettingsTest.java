package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertLinesMatch;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.core.JsonFactory;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.tls.TestCertificate;

/** Unusable settings prevent the start; the command {@code check} reports on all of them. */
class SettingsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jwt.secret   |                             | JWT_SECRET, JWT_SECRET_FILE or JWT_JWKS_URL must be set, but none is
          jwt.secret-file | any                      | one of JWT_SECRET and JWT_SECRET_FILE must be set, but both are
          jwt.required-claims | scope                | JWT_REQUIRED_CLAIMS must have claims such as scope=plants.write, but has "scope"
          jwt.required-claims | a=b scope=           | JWT_REQUIRED_CLAIMS must have claims such as scope=plants.write, but has "scope="
          jwt.required-claims | =b                   | JWT_REQUIRED_CLAIMS must have claims such as scope=plants.write, but has "=b"
          jwt.required-claims | nbf=1                | JWT_REQUIRED_CLAIMS must not have nbf=1, which is a date
          jwt.required-claims | a=b a=b, | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=b,"
          jwt.required-claims | a=b a=,b | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=,b"
          jwt.required-claims | a=b a=100% | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=100%"
          jwt.required-claims | a=b a=%zz | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=%zz"
          jwt.required-claims | a=b a=%-1 | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=%-1"
          jwt.required-claims | a=b a=%+1 | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=%+1"
          jwt.required-claims | a=b a=%FF | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=%FF"
          jwt.secret   | \u00E9\u00E9\u00E9\u00E9\u00E9 | JWT_SECRET must have at least 32 bytes, but has 10
          jwt.secret   | base64:QUJDRA==             | JWT_SECRET must have at least 32 bytes, but has 4
          jwt.secret   | base64:QUJDRA===            | JWT_SECRET must have base64 or base64url after base64:, but has other text
          jwt.secret   | base64:QUJD RA              | JWT_SECRET must have base64 or base64url after base64:, but has other text
          jwt.secret   | ''                          | JWT_SECRET must have a value or not be set, but is empty
          jwt.secret   | ${no.such:placeholder}      | JWT_SECRET must have at least 32 bytes, but has 22
          jwt.issuer   | ''                          | JWT_ISSUER must have a value or not be set, but is empty
          jwt.audience | ''                          | JWT_AUDIENCE must have a value or not be set, but is empty
          max.body.bytes | '' | MAX_BODY_BYTES must be a whole number from 1 to 999999999, but is ""
          max.concurrent.creates | 0 | MAX_CONCURRENT_CREATES must be a whole number from 1 to 999999999, but is "0"
          max.connections | 1000000000 | MAX_CONNECTIONS must be a whole number from 1 to 999999999, but is "1000000000"
          request.timeout.seconds | -1 | REQUEST_TIMEOUT_SECONDS must be a whole number from 1 to 999999999, but is "-1"
          """)
  void unusable_setting_is_refused(String property, @Nullable String value, String message) {
    Map<String, Object> settings = new HashMap<>(Map.of("jwt.secret", Tokens.SECRET));
    settings.put(property, value);
    settings.values().removeIf(Objects::isNull);
    assertRefused(settings, message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"x/keys", "https:///x", "ht tp://x", "https://me:pw@x"})
  void key_set_has_a_plain_address(String url) {
    assertRefused(
        Map.of("jwt.jwks-url", url),
        "JWT_JWKS_URL must be an absolute http, https or file URL without a user or a password");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://key_cloak:8080/keys", "https://me:pw@key_cloak:8080"})
  void underscore_in_the_host_of_the_key_set_is_named(String url) {
    assertRefused(
        Map.of("jwt.jwks-url", url),
        "JWT_JWKS_URL must have a host name without an underscore (RFC 1123), but has"
            + " \"key_cloak:8080\"; give that host another name, such as a network alias in Compose");
  }

  @Test
  void report_has_the_finding_about_each_part() {
    List<String> plain = report(Map.of());
    assertLinesMatch(
        List.of(
            "settings: at most [0-9]+ connections, with a limit of [0-9]+ open files",
            "certificate: none; a proxy in front of the service must terminate TLS",
            "tokens: signed by a key of JWT_SECRET; any issuer; any audience"),
        plain);
    long connections = Long.parseLong(plain.get(0).replaceAll("\\D*(\\d+).*", "$1"));
    List<String> encrypted = new ArrayList<>(plain);
    encrypted.set(0, plain.get(0).replace(" " + connections + " ", " " + connections / 3 + " "));
    encrypted.set(1, "certificate: for \\[localhost, 127.0.0.1] until [-0-9:TZ.]+");
    assertLinesMatch(encrypted, report(TestCertificate.settings()));
    Map<String, String> chosen = Map.of("max.connections", "77");
    assertLinesMatch(List.of("settings: at most 77 .*", ">> others >>"), report(chosen));
  }

  @Test
  void more_connections_than_files_can_be_open_are_refused() {
    assertRefused(
        Map.of("jwt.secret", Tokens.SECRET, "max.connections", "999999999"),
        "MAX_CONNECTIONS must be at most "
            + HttpRequirements.maxConnections()
            + ", because only "
            + HttpRequirements.maxOpenFiles()
            + " files can be open (ulimit -n), but is 999999999");
  }

  /** A folder in front of the class path has another version, as the jar of a driver would. */
  @Test
  void two_versions_of_netty_are_refused(@TempDir Path folder) throws IOException {
    Path versions = folder.resolve("META-INF/io.netty.versions.properties");
    Files.createDirectories(versions.getParent());
    Files.writeString(
        versions, "netty-codec.version=4.1.118.Final\nincubator.version=0.0.25.Final");
    ClassLoader classPath =
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
    ApplicationContextBuilder start =
        ApplicationContext.builder(classPath).properties(Map.of("jwt.secret", Tokens.SECRET));
    // A Netty whose packages were renamed is no second one.
    start.start().close();

    Files.createDirectories(folder.resolve("io/netty"));
    ConfigurationException refusal =
        assertThrows(ConfigurationException.class, () -> start.start());
    assertLinesMatch(
        List.of(
            "the class path must have one version of Netty, but has \\{4\\.1\\.118\\.Final="
                + versions.toUri().toURL()
                + ", 4\\.2\\.[0-9]+\\.Final=jar:file:/[^,]*}; remove the others"),
        List.of(String.valueOf(refusal.getMessage())));
  }

  @Test
  void library_that_is_too_old_is_named_with_its_file() {
    ConfigurationException refusal =
        assertThrows(
            ConfigurationException.class,
            () ->
                Libraries.require(
                    JsonFactory.class,
                    "jackson-core 2.18",
                    () -> {
                      throw new NoClassDefFoundError(
                          "com/fasterxml/jackson/core/util/RecyclerPool");
                    }));

    assertLinesMatch(
        List.of(
            "the class path must have jackson-core 2\\.18 or later, but has 2\\.[0-9.]+"
                + " at jar:file:/.*/jackson-core-2\\.[0-9.]+\\.jar!/.*/JsonFactory\\.class"),
        List.of(String.valueOf(refusal.getMessage())));
  }

  private static List<String> report(Map<String, String> settings) {
    Map<String, Object> all = new HashMap<>(Map.of("jwt.secret", Tokens.SECRET));
    all.putAll(settings);
    try (ApplicationContext context = ApplicationContext.builder().properties(all).build()) {
      return new HttpStart()
          .apply(context.getEnvironment().start()).stream()
              .map(each -> each.getKey() + ": " + each.getValue().get())
              .toList();
    }
  }

  private static void assertRefused(Map<String, Object> settings, String message) {
    ConfigurationException refusal =
        assertThrows(ConfigurationException.class, () -> ApplicationContext.run(settings).close());
    assertEquals(message, refusal.getMessage());
  }
}
