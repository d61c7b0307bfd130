package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micronaut.context.ApplicationContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Passwords that come with the address, or from a file that changes. */
class PasswordTest {

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void reset() {
    SERVER.reset();
    file = folder.resolve("password");
  }

  @Test
  void changed_password_is_used_at_once_even_after_a_refusal() throws Exception {
    SERVER.execute("CREATE ROLE gardener LOGIN PASSWORD 'old'");
    Path accounts = Path.of(SERVER.single("SHOW hba_file"));
    String trusting = Files.readString(accounts);
    Files.writeString(accounts, "host all gardener all scram-sha-256\n" + trusting);
    SERVER.execute("SELECT pg_reload_conf()");
    try {
      Files.writeString(file, "old\n");
      DatabaseAccess access =
          new DatabaseAccess(SERVER.url("postgres"), "gardener", new Password(file));
      RetryingDataSource source =
          new RetryingDataSource(access, new DatabaseTimeouts(Duration.ofSeconds(1)));
      source.attempt().close();

      SERVER.execute("ALTER ROLE gardener PASSWORD 'new'");
      assertThrows(SQLException.class, source::attempt);
      Files.writeString(file, "new");
      source.attempt().close();
    } finally {
      Files.writeString(accounts, trusting);
      SERVER.execute("SELECT pg_reload_conf()");
    }
  }

  @Test
  void password_is_all_of_the_file_except_one_line_break_at_its_end() throws IOException {
    Files.writeString(file, " \ufeffp\u00e4ss\n\n");
    assertEquals(" \ufeffp\u00e4ss\n", new Password(file).now());
  }

  @Test
  void unreadable_file_keeps_the_last_password() throws IOException {
    Files.writeString(file, "first");
    Password password = new Password(file);
    Files.delete(file);
    assertEquals("first", password.now());
    Files.writeString(file, "");
    assertEquals("first", password.now());
    Files.writeString(file, "second");
    assertEquals("second", password.now());
  }

  @Test
  void file_without_a_password_ends_a_start() throws IOException {
    assertRefused("it is no file");
    Files.writeString(file, "\n");
    assertRefused("it is empty");
    Files.writeString(file, "p\u00e4ss\r\n");
    assertRefused("it ends with CARRIAGE RETURN");
    Files.write(file, "p\u00e4ss".getBytes(StandardCharsets.ISO_8859_1));
    assertRefused("MalformedInputException");
  }

  private void assertRefused(String reason) {
    assertEquals(
        "DATABASE_PASSWORD_FILE must be a file with a password, but " + file + " is not: " + reason,
        SERVER.refusal(Map.of("database.password", "", "database.password-file", file.toString())));
  }

  @Test
  void password_is_used_as_it_is_written_and_not_told() {
    try (ApplicationContext instance =
        SERVER.connect(Map.of("database.password", "a${secret}$$"))) {
      DatabaseAccess access = DatabaseAccess.of(instance.getEnvironment());
      assertEquals("a${secret}$$", access.password().now());
      assertEquals("postgres at " + SERVER.url("postgres"), access.toString());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          postgres://me:pass@host:6432/plants?sslmode=require        | jdbc:postgresql://host:6432/plants?sslmode=require | me | pass
          postgresql://me@host                                       | jdbc:postgresql://host/                            | me | ''
          postgres://host:6432?sslmode=require | jdbc:postgresql://host:6432/?sslmode=require | '' | ''
          postgres://host/                                           | jdbc:postgresql://host/                            | '' | ''
          postgres://m%40e:p%2Fa%3Fs%25s+%c3%a9:#@[::1]:5432/p+l     | jdbc:postgresql://[::1]:5432/p%2Bl                 | m@e | p/a?s%s+\u00e9:#
          postgres://a,b:6432/p?sslmode=require&channel_binding=require | jdbc:postgresql://a,b:6432/p?sslmode=require&channelBinding=require | '' | ''
          jdbc:postgresql://me:pass@host/p | jdbc:postgresql://me:pass@host/p | '' | ''
          """)
  void address_of_libpq_becomes_one_of_the_driver(
      String address, String jdbcUrl, String username, String password) {
    assertEquals(new ConnectionUri(jdbcUrl, username, password), ConnectionUri.of(address));
  }

  @Test
  void account_comes_from_the_address_unless_it_is_set() {
    String address = SERVER.url("postgres").replace("jdbc:postgresql://", "postgres://nobody:p@");
    Map<String, Object> settings = Map.of("database.url", address);
    SERVER.assertServes(settings); // whose account is set
    String asNobody = SERVER.refusal(Map.of("database.url", address, "database.username", ""));
    assertTrue(asNobody.contains("role \"nobody\" does not exist"), asNobody);
  }
}
