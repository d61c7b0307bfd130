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
import org.plantstore.adapter.http.tls.TestCertificate;

/** Unusable settings prevent the start; the command {@code check} reports on all of them. */
class SettingsTest {

  private static final Map<String, String> SECRET = Map.of("jwt.secret", Tokens.SECRET);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jwt.secret | | JWT_SECRET, JWT_SECRET_FILE or JWT_JWKS_URL must be set, but none is
          jwt.secret-file | any | one of JWT_SECRET and JWT_SECRET_FILE must be set, but both are
          jwt.secret | \u00E9\u00E9\u00E9\u00E9\u00E9 | JWT_SECRET must have at least 32 bytes, but has 10
          jwt.secret | base64:QUJDRA== | JWT_SECRET must have at least 32 bytes, but has 4
          jwt.secret | base64:QUJDRA=== | JWT_SECRET must have base64 or base64url after base64:, but has other text
          jwt.secret | '' | JWT_SECRET must have a value or not be set, but is empty
          jwt.secret | ${no.such:placeholder} | JWT_SECRET must have at least 32 bytes, but has 22
          jwt.issuer | '' | JWT_ISSUER must have a value or not be set, but is empty
          jwt.required-claims | a=b scope= | JWT_REQUIRED_CLAIMS must have claims such as scope=plants.write, but has "scope="
          jwt.required-claims | a=,b | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=,b"
          jwt.required-claims | a=%zz | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=%zz"
          jwt.required-claims | a=%FF | JWT_REQUIRED_CLAIMS must have values with a comma between them, percent-encoded, so with %20 for a space and %25 for %, but has "a=%FF"
          jwt.jwks-url | x/keys | JWT_JWKS_URL must be an absolute http, https or file URL, without a user or a password, with a port up to 65535, and without an underscore in the name of the host
          jwt.jwks-url | https://me:pw@x | JWT_JWKS_URL must be an absolute http, https or file URL, without a user or a password, with a port up to 65535, and without an underscore in the name of the host
          jwt.jwks-url | http://key_cloak:8080/keys | JWT_JWKS_URL must be an absolute http, https or file URL, without a user or a password, with a port up to 65535, and without an underscore in the name of the host
          jwt.jwks-url | http://x:65536/keys | JWT_JWKS_URL must be an absolute http, https or file URL, without a user or a password, with a port up to 65535, and without an underscore in the name of the host
          jwt.jwks-url | file:///keys?x | JWT_JWKS_URL must be an absolute http, https or file URL, without a user or a password, with a port up to 65535, and without an underscore in the name of the host
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

  /** Reading a device could exhaust the memory, or never end. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          secret-file | ''               | each line of JWT_SECRET_FILE must have at least 32 bytes, but has 0
          secret-file | 'OLD\n short'    | each line of JWT_SECRET_FILE must have at least 32 bytes, but has 6
          secret-file | 'OLD\nbase64:*'  | each line of JWT_SECRET_FILE must have base64 or base64url after base64:, but has other text
          secret-file | 'OLD\r\n'        | each line of JWT_SECRET_FILE must have no NUL, byte order mark, or CARRIAGE RETURN at its end, but one has
          secret-file | 'OLD<NUL>'       | each line of JWT_SECRET_FILE must have no NUL, byte order mark, or CARRIAGE RETURN at its end, but one has
          secret-file | '\ufeffOLD'      | each line of JWT_SECRET_FILE must have no NUL, byte order mark, or CARRIAGE RETURN at its end, but one has
          secret-file | LARGE            | JWT_SECRET_FILE must name a readable file, but FILE cannot be read: it is larger than 262144 bytes
          secret-file |                  | JWT_SECRET_FILE must name a readable file, but FILE cannot be read: it is missing or is not a regular file
          jwks-url    | '{\"keys\":[]}'  | JWT_JWKS_URL must be a file with a usable key set, but FILE is not: its array "keys" has 0 usable keys, 0 left out
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
        message.replace("FILE cannot", file + " cannot").replace("FILE is not", file + " is not"));
  }

  @Test
  void more_connections_than_files_can_be_open_are_refused() {
    String bound = HttpRequirements.maxConnections() + ", because only ";
    String files = HttpRequirements.maxOpenFiles() + " files can be open (ulimit -n)";
    assertEquals(
        "✘ settings: MAX_CONNECTIONS must be at most " + bound + files + ", but is 999999999",
        report(Map.of("max.connections", "999999999")).get(0));
  }

  @Test
  void report_has_the_finding_about_each_part() {
    String settings = "✔ settings: at most %d connections, with a limit of [0-9]+ open files";
    String tokens = "✔ tokens: signed by a key of JWT_SECRET; any issuer; any audience";
    String none = "✔ certificate: none; a proxy in front of the service must terminate TLS";
    String own = "✔ certificate: for \\[localhost, 127.0.0.1], valid until [-0-9:TZ.]+";
    int connections = Integer.parseInt(report(SECRET).get(0).replaceAll("\\D*(\\d+).*", "$1"));

    assertLinesMatch(
        List.of(settings.replace("%d", "" + connections), none, tokens), report(SECRET));
    assertLinesMatch(
        List.of(settings.replace("%d", "" + connections / 3), own, tokens),
        report(TestCertificate.settings()));
  }

  /** A folder in front of the class path has another version, as the jar of a driver would. */
  @Test
  void two_versions_of_netty_are_refused(@TempDir Path folder) throws IOException {
    URL[] first = {folder.toUri().toURL()};
    ClassPathResourceLoader classPath =
        ClassPathResourceLoader.defaultLoader(
            new URLClassLoader(first, getClass().getClassLoader()));
    HttpRequirements.requireOneNetty(classPath);

    Path other = folder.resolve("io/netty/util/Version.class");
    Files.createDirectories(other.getParent());
    Files.createFile(other);
    assertRefusedLike(
        () -> HttpRequirements.requireOneNetty(classPath),
        "the class path must have one version of Netty, but has those of \\["
            + other.toUri().toURL()
            + ", jar:file:/[^,]*]; remove the others");
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
