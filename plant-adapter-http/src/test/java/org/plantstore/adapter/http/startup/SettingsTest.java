package org.plantstore.adapter.http.startup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertLinesMatch;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.scan.ClassPathResourceLoader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.fixture.TestCertificate;

/** Tests that unusable settings prevent startup, and what the command {@code check} reports. */
class SettingsTest {

  private static final Map<String, String> SECRET = Map.of("jwt.secret", Tokens.SECRET);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jwt.secret | | JWT_SECRET, JWT_SECRET_FILE, or JWT_JWKS_URL must be set, but none of them is
          jwt.secret-file | any | only one of JWT_SECRET and JWT_SECRET_FILE may be set, but both are
          jwt.secret | \u00E9\u00E9\u00E9\u00E9\u00E9 | JWT_SECRET must have at least 32 bytes, but has 10
          jwt.secret | base64:QUJDRA== | JWT_SECRET must have at least 32 bytes, but has 4
          jwt.secret | base64:QUJDRA=== | JWT_SECRET must contain valid base64 or base64url after the prefix "base64:"
          jwt.secret | '' | JWT_SECRET must not be empty; set it or remove it
          jwt.secret | ${no.such:placeholder} | JWT_SECRET must have at least 32 bytes, but has 22
          jwt.issuer | '' | JWT_ISSUER must not be empty; set it or remove it
          jwt.required-claims | a=b scope= | JWT_REQUIRED_CLAIMS must contain name=value, such as scope=plants.write, but contains "scope="
          jwt.required-claims | a=,b | JWT_REQUIRED_CLAIMS must contain nonempty, percent-encoded values (%20 is a space, %25 is a percent sign), but contains "a=,b"
          jwt.required-claims | a=%zz | JWT_REQUIRED_CLAIMS must contain nonempty, percent-encoded values (%20 is a space, %25 is a percent sign), but contains "a=%zz"
          jwt.required-claims | a=%FF | JWT_REQUIRED_CLAIMS must contain nonempty, percent-encoded values (%20 is a space, %25 is a percent sign), but contains "a=%FF"
          jwt.jwks-url | x/keys | JWT_JWKS_URL must be an absolute http, https, or file URL without a user name, a password, a port above 65535, or an underscore in the host name
          jwt.jwks-url | https://me:pw@x | JWT_JWKS_URL must be an absolute http, https, or file URL without a user name, a password, a port above 65535, or an underscore in the host name
          jwt.jwks-url | http://key_cloak:8080/keys | JWT_JWKS_URL must be an absolute http, https, or file URL without a user name, a password, a port above 65535, or an underscore in the host name
          jwt.jwks-url | http://x:65536/keys | JWT_JWKS_URL must be an absolute http, https, or file URL without a user name, a password, a port above 65535, or an underscore in the host name
          jwt.jwks-url | file:///keys?x | JWT_JWKS_URL must be an absolute http, https, or file URL without a user name, a password, a port above 65535, or an underscore in the host name
          max.body.bytes | '' | MAX_BODY_BYTES must be a whole number from 1 to 999999999, but is ""
          max.connections | 1000000000 | MAX_CONNECTIONS must be a whole number from 1 to 999999999, but is "1000000000"
          """)
  void unusable_setting_is_refused(String property, @Nullable String value, String message) {
    Map<String, Object> settings = new HashMap<>(SECRET);
    settings.remove(property);
    if (value != null) {
      settings.put(property, value);
    }
    assertRefused(() -> ApplicationContext.run(settings).close(), message);
  }

  /** A device file is refused, because reading it could exhaust the memory or never end. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          secret-file | ''               | line 1 of JWT_SECRET_FILE must have at least 32 bytes, but has 0
          secret-file | 'OLD\n short'    | line 2 of JWT_SECRET_FILE must have at least 32 bytes, but has 6
          secret-file | 'OLD\nbase64:*'  | line 2 of JWT_SECRET_FILE must contain valid base64 or base64url after the prefix "base64:"
          secret-file | 'OLD\r\n'        | JWT_SECRET_FILE must not contain a NUL byte, a byte order mark, or a carriage return at the end of a line; save the file as plain text with Unix line endings
          secret-file | 'OLD<NUL>'       | JWT_SECRET_FILE must not contain a NUL byte, a byte order mark, or a carriage return at the end of a line; save the file as plain text with Unix line endings
          secret-file | '\ufeffOLD'      | JWT_SECRET_FILE must not contain a NUL byte, a byte order mark, or a carriage return at the end of a line; save the file as plain text with Unix line endings
          secret-file | LARGE            | JWT_SECRET_FILE must name a readable file, but FILE is larger than 262144 bytes
          secret-file |                  | JWT_SECRET_FILE must name a readable file, but FILE is missing or is not a regular file
          jwks-url    | '{\"keys\":[]}'  | JWT_JWKS_URL must name a file with a usable key set, but FILE contains no usable key
          jwks-url    | 'null'           | JWT_JWKS_URL must name a file with a usable key set, but FILE contains no "keys" array
          """)
  void unusable_file_is_refused(
      String property, @Nullable String content, String message, @TempDir Path folder)
      throws IOException {
    Path file = content == null ? Path.of("/dev/zero") : folder.resolve("file");
    if (content != null) {
      String text = content.equals("LARGE") ? "x".repeat(256 * 1024 + 1) : content;
      Files.writeString(file, text.replace("OLD", Tokens.SECRET).replace("<NUL>", "\0"));
    }
    Object value = property.equals("jwks-url") ? file.toUri() : file;
    assertRefused(
        () -> ApplicationContext.run(Map.of("jwt." + property, value)).close(),
        message.replace("but FILE", "but " + file));
  }

  @Test
  void max_connections_above_the_limit_on_open_files_is_refused() {
    String bound = HttpStart.maxConnections() + ", but is 999999999; lower it, or ";
    String files =
        "raise the limit on open files (ulimit -n), which is " + HttpStart.maxOpenFiles();
    assertEquals(
        "✘ settings: MAX_CONNECTIONS must be at most " + bound + files,
        report(Map.of("max.connections", "999999999")).get(0));
  }

  @Test
  void check_reports_a_finding_about_settings_certificate_and_tokens() {
    String settings = "✔ settings: at most %d connections, with a limit of [0-9]+ open files";
    String tokens = "✔ tokens: signed with a key from JWT_SECRET; any issuer; any audience";
    String none = "✔ certificate: none; a proxy in front of the service must terminate TLS";
    String own = "✔ certificate: for \\[localhost, 127.0.0.1], valid until [-0-9:TZ.]+";
    int connections = Integer.parseInt(report(SECRET).get(0).replaceAll("\\D*(\\d+).*", "$1"));

    assertLinesMatch(
        List.of(settings.replace("%d", "" + connections), none, tokens), report(SECRET));
    assertLinesMatch(
        List.of(settings.replace("%d", "" + connections / 3), own, tokens),
        report(TestCertificate.settings("tls.certificate", "tls.key")));
  }

  /**
   * A folder that precedes the class path contains another version of Netty, as a driver's JAR file
   * might.
   */
  @Test
  void two_versions_of_netty_are_refused(@TempDir Path folder) throws IOException {
    URL[] first = {folder.toUri().toURL()};
    ClassPathResourceLoader classPath =
        ClassPathResourceLoader.defaultLoader(
            new URLClassLoader(first, getClass().getClassLoader()));
    HttpStart.requireOneNetty(classPath);

    Path other = folder.resolve("io/netty/util/Version.class");
    Files.createDirectories(other.getParent());
    Files.createFile(other);
    assertRefusedLike(
        () -> HttpStart.requireOneNetty(classPath),
        "the class path must contain only one version of Netty, but contains \\["
            + other.toUri().toURL()
            + ", jar:file:/[^,]*]; remove all but one");
  }

  private static List<String> report(Map<String, String> settings) {
    Map<String, Object> all = new HashMap<>(SECRET);
    all.putAll(settings);
    StringWriter report = new StringWriter();
    try (ApplicationContext context = ApplicationContext.builder().properties(all).build()) {
      HttpCheck.report(context.getEnvironment().start(), new PrintWriter(report), false);
    }
    return report.toString().lines().toList();
  }

  private static void assertRefused(Executable start, String message) {
    assertEquals(message, assertThrows(ConfigurationException.class, start).getMessage());
  }

  private static void assertRefusedLike(Executable start, String pattern) {
    String message = assertThrows(ConfigurationException.class, start).getMessage();
    assertLinesMatch(List.of(pattern), List.of(String.valueOf(message)));
  }
}
