package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.DatabaseSettings.Credentials;
import org.postgresql.PGProperty;

/** The settings of the database: which values are accepted, and which are refused. */
class DatabaseSettingsTest {

  private static final String UNUSABLE =
      "DATABASE_URL must have the form jdbc:postgresql://host:5432/name or"
          + " postgres://user:password@host:5432/name; in a password, write @ as %40, / as %2F,"
          + " ? as %3F, and % as %25";

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          postgres://me:pass@host:6432/plants?sslmode=require    | jdbc:postgresql://host:6432/plants   | me  | pass
          postgresql://me@host                                   | jdbc:postgresql://host/              | me  | ''
          postgres://host:6432?sslmode=require                   | jdbc:postgresql://host:6432/         | ''  | ''
          postgres://m%40e:p%2Fa%3Fs%25s+%c3%a9:#@[::1]:5432/p+l | jdbc:postgresql://[::1]:5432/p%2Bl   | m@e | p/a?s%s+\u00e9:#
          postgres://host/p?user=me&password=p%26s               | jdbc:postgresql://host/p             | me  | p&s
          jdbc:postgresql://host:5432/p?password=a+b%40c&user=me | jdbc:postgresql://host:5432/p        | me  | a b@c
          jdbc:postgresql://me:p%40s+s@my_db.internal/p          | jdbc:postgresql://my_db.internal/p   | me  | p@s+s
          jdbc:postgresql://localhost/my@db                      | jdbc:postgresql://localhost/my@db    | ''  | ''
          jdbc:postgresql:plants                                 | jdbc:postgresql:plants               | ''  | ''
          """)
  void libpq_or_jdbc_address_may_contain_credentials(
      String text, String url, String username, String password) {
    DatabaseAddress address = DatabaseAddress.of(text);

    assertEquals(url, address.toString());
    assertEquals(username, address.value(PGProperty.USER));
    assertEquals(password, address.value(PGProperty.PASSWORD));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jdbc:mysql://localhost/plants
          postgres://plants:can?ary@localhost/p?sslmode=allow
          postgresql://plants:can%ary@localhost/p
          postgres://plants:can@ary@localhost/p
          jdbc:postgresql://plants:can/ary@localhost/p
          jdbc:postgresql://localhost:99999/p?password=canary
          jdbc:postgresql://localhost/p?options=%2
          """)
  void address_that_the_driver_cannot_use_is_refused_but_not_quoted(String url) {
    assertEquals(UNUSABLE, refusal("DATABASE_URL", url));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          DATABASE_MIGRATE | yes | DATABASE_MIGRATE must be on or off, but is "yes"
          DATABASE_CONNECTIONS | 1 | DATABASE_CONNECTIONS must be a whole number from 5 to 10000, but is "1"
          DATABASE_TIMEOUT_SECONDS | 0 | DATABASE_TIMEOUT_SECONDS must be a whole number from 1 to 60, but is "0"
          DATABASE_START_TIMEOUT_SECONDS | 1h | DATABASE_START_TIMEOUT_SECONDS must be a whole number from 0 to 3600, but is "1h"
          DATABASE_PASSWORD_FILE | /any | only one of DATABASE_PASSWORD and DATABASE_PASSWORD_FILE may be set, but both are
          DATABASE_URL | '' | DATABASE_URL is not set, or is empty; set it to the database address, such as jdbc:postgresql://host:5432/name
          DATABASE_USERNAME | '' | DATABASE_USERNAME is not set, or is empty; set it to the name of a role, or set DATABASE_USERNAME_FILE, or add the role to DATABASE_URL
          DATABASE_PASSWORD | '' | DATABASE_PASSWORD is not set, or is empty; set it to the role's password, or set DATABASE_PASSWORD_FILE, or add sslcert and sslkey to DATABASE_URL
          DATABASE_URL | jdbc:postgresql://localhost/p?ssl_mode=require | DATABASE_URL must not contain a parameter that the driver does not recognize, such as "ssl_mode"; correct or remove it
          DATABASE_URL | jdbc:postgresql://localhost/p?pwd=ab&canary | DATABASE_URL must not contain a parameter that the driver does not recognize; correct or remove it
          DATABASE_URL | jdbc:postgresql://plants:123?canary@localhost/p | DATABASE_URL must not contain a parameter that the driver does not recognize; correct or remove it
          DATABASE_URL | jdbc:postgresql://localhost/p?loginTimeout=1 | DATABASE_URL must not set timeouts; set DATABASE_TIMEOUT_SECONDS instead
          DATABASE_URL | jdbc:postgresql://localhost/p?sslmode=on | DATABASE_URL must set sslmode to a value that the driver recognizes, such as verify-full
          DATABASE_URL | postgres://localhost/p?sslmode=require&sslrootcert=system | DATABASE_URL must set sslrootcert to a file instead of system if it sets sslcert, sslkey, or an sslmode other than verify-full
          DATABASE_URL | postgres://localhost/p?sslcert=/my.crt&sslrootcert=system | DATABASE_URL must set sslrootcert to a file instead of system if it sets sslcert, sslkey, or an sslmode other than verify-full
          """)
  void unusable_setting_is_refused(String variable, String value, String refusal) {
    assertEquals(refusal, refusal(variable, value));
  }

  @ParameterizedTest
  @CsvSource({"65, 5, false", "65, 60, false", "6, 5, false", "5, 5, true", "3, 5, true"})
  void create_timeout_that_does_not_exceed_the_database_timeout_causes_a_warning(
      int create, int database, boolean isDoubtful) {
    Optional<String> warning =
        settings(
                Map.of(
                    "create.timeout.seconds", String.valueOf(create),
                    "DATABASE_TIMEOUT_SECONDS", String.valueOf(database)))
            .warning();
    String start =
        ("CREATE_TIMEOUT_SECONDS is " + create + ", but should be greater than")
            + (" DATABASE_TIMEOUT_SECONDS, which is " + database + ";");
    assertEquals(isDoubtful, warning.filter(text -> text.startsWith(start)).isPresent());
    assertEquals(isDoubtful, warning.isPresent());
  }

  @Test
  void variables_override_the_credentials_in_the_address_and_a_certificate_needs_no_password() {
    String url = "postgres://nobody:none@localhost/p";
    assertEquals(
        new Credentials("me", "a${secret}$$"), settings(Map.of("DATABASE_URL", url)).credentials());
    Credentials credentials =
        settings(Map.of("DATABASE_URL", url, "DATABASE_USERNAME", "", "DATABASE_PASSWORD", ""))
            .credentials();
    assertEquals(new Credentials("nobody", "none"), credentials);
    assertEquals("nobody", credentials.toString());
    String certificate = "jdbc:postgresql://localhost/p?sslcert=/my.crt&sslkey=/my.pk8";
    settings(Map.of("DATABASE_URL", certificate, "DATABASE_PASSWORD", ""));
  }

  @Test
  void credentials_in_files_are_read_again_without_a_final_line_break() throws IOException {
    Path name = Files.writeString(folder.resolve("name"), "first\n");
    Path password = Files.writeString(folder.resolve("password"), " \ufeffp\u00e4ss\n\n");
    DatabaseSettings settings =
        settings(
            Map.of(
                "DATABASE_USERNAME",
                "",
                "DATABASE_USERNAME_FILE",
                name.toString(),
                "DATABASE_PASSWORD",
                "",
                "DATABASE_PASSWORD_FILE",
                password.toString()));
    assertEquals(new Credentials("first", " \ufeffp\u00e4ss\n"), settings.credentials());

    Files.writeString(name, "second");
    Files.writeString(password, "changed");
    assertEquals(new Credentials("second", "changed"), settings.credentials());

    Files.delete(name);
    assertThrows(ConfigurationException.class, settings::credentials);
  }

  @Test
  void password_file_that_contains_no_valid_password_is_refused() throws IOException {
    Path file = folder.resolve("password");
    assertRefused(file, "it does not exist, or is not a regular file");
    Files.writeString(file, "\n");
    assertRefused(file, "it is empty");
    Files.writeString(file, "p\u00e4ss\r\n");
    assertRefused(file, "it ends with a carriage return");
    Files.write(file, "p\u00e4ss".getBytes(StandardCharsets.ISO_8859_1));
    assertRefused(file, "it is not UTF-8");
  }

  private static void assertRefused(Path file, String reason) {
    Map<String, String> values =
        Map.of("DATABASE_PASSWORD", "", "DATABASE_PASSWORD_FILE", file.toString());
    assertEquals(
        ("DATABASE_PASSWORD_FILE must name a file that contains text, but \"" + file)
            + ("\" cannot be used: " + reason),
        assertThrows(ConfigurationException.class, () -> settings(values)).getMessage());
  }

  private static String refusal(String variable, String value) {
    Map<String, String> values = Map.of(variable, value);
    return String.valueOf(
        assertThrows(ConfigurationException.class, () -> settings(values)).getMessage());
  }

  private static DatabaseSettings settings(Map<String, String> values) {
    Map<String, Object> all = new HashMap<>();
    all.put("DATABASE_URL", "jdbc:postgresql://localhost/p");
    all.put("DATABASE_USERNAME", "me");
    all.put("DATABASE_PASSWORD", "a${secret}$$");
    all.putAll(values);
    try (ApplicationContext context = ApplicationContext.builder().properties(all).build()) {
      return new DatabaseSettings(context.getEnvironment().start());
    }
  }
}
