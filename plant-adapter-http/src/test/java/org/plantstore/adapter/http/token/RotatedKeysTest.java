package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.http.token.SecretTokensTest.isValid;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/** Keys in files, which change while the service runs. */
class RotatedKeysTest {

  private static final String OLD = "the old secret, of 32 bytes or more";
  private static final String NEW = "the new secret, of 32 bytes or more";

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void name() {
    file = folder.resolve("file");
  }

  @Test
  void secrets_of_all_lines_are_valid_until_their_line_is_removed() throws IOException {
    TokenValidation validation = withSecrets(OLD);
    assertValid(validation, true, false);
    for (String both : List.of(OLD + "\n" + NEW, NEW + "\n" + OLD + "\n")) {
      write(both);
      validation.renewKeys();
      assertValid(validation, true, true);
    }
    TokenKeys.Snapshot before = validation.keys();
    validation.renewKeys();
    assertEquals(true, before.isSame(validation.keys()), "nothing is validated anew");
    // As Kubernetes does it: another folder, to which a link is moved.
    Path next =
        Files.createSymbolicLink(
            folder.resolve("next"), Files.writeString(folder.resolve("2"), NEW));
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    validation.renewKeys();
    assertValid(validation, false, true);
    assertEquals(false, before.isSame(validation.keys()), "the removed secret is not remembered");
  }

  @Test
  void file_that_becomes_unusable_keeps_the_last_secrets_and_warns_after_10_seconds()
      throws IOException {
    TokenValidation validation = withSecrets(OLD);
    try (Log log = new Log(RenewedFiles.class.getName())) {
      Files.delete(file);
      for (int second = 0; second < 3_600; second++) {
        if (second == 5) {
          write("short");
        }
        validation.renewKeys();
      }
      assertValid(validation, true, false);
      assertEquals(
          "A file cannot be used; in use stays JWT_SECRET_FILE, 1 secret: line 1 of JWT_SECRET_FILE"
              + " must have at least 32 bytes, but has 5",
          log.await(1).get(0).getFormattedMessage());
      write(NEW);
      validation.renewKeys();
      assertEquals(
          "JWT_SECRET_FILE has changed, and now has 1 secret",
          log.await(2).get(1).getFormattedMessage());
      assertValid(validation, false, true);
    }
  }

  @Test
  void every_byte_of_a_line_counts() throws IOException {
    StringBuilder all = new StringBuilder();
    for (char each = 0; each < 256; each++) {
      all.append(each == '\n' ? "" : each);
    }
    String secret = " " + all + "\t ";
    TokenValidation validation = withSecrets(secret);
    String token = "{\"alg\":\"HS256\"}";
    assertEquals(
        true, isValid(validation, Tokens.raw(token, Tokens.CLAIMS, secret.getBytes(ISO_8859_1))));
    assertEquals(
        false,
        isValid(validation, Tokens.raw(token, Tokens.CLAIMS, secret.strip().getBytes(ISO_8859_1))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "\"\" | line 1 of JWT_SECRET_FILE must have at least 32 bytes, but has 0",
        "\"OLD\n\n\" | line 2 of JWT_SECRET_FILE must have at least 32 bytes, but has 0",
        "\"OLD\n short\" | line 2 of JWT_SECRET_FILE must have at least 32 bytes, but has 6",
        "\"OLD\r\n\" | line 1 of JWT_SECRET_FILE must not end with CARRIAGE RETURN, but does",
        "\"1\n2\n3\n4\n5\n6\n7\n8\n9\n1\n1\n1\n1\n1\n1\n1\n1\" | JWT_SECRET_FILE must have at"
            + " most 16 lines, but has 17"
      })
  void unusable_file_ends_a_start(String text, String message) {
    ConfigurationException refusal =
        assertThrows(ConfigurationException.class, () -> withSecrets(text.replace("OLD", OLD)));
    assertEquals(message, refusal.getMessage());
  }

  @Test
  void missing_file_ends_a_start() {
    String path = folder.resolve("none").toString();
    for (Map.Entry<String, Object> setting :
        Map.<String, Object>of(
                "jwt.secret-file", path, "jwt.jwks-url", folder.resolve("none").toUri())
            .entrySet()) {
      ConfigurationException refusal =
          assertThrows(
              ConfigurationException.class,
              () -> SettingsOfTokens.of(Map.of(setting.getKey(), setting.getValue())));
      assertEquals(true, String.valueOf(refusal.getMessage()).endsWith(": NoSuchFileException"));
    }
  }

  @Test
  void key_set_in_a_file_is_read_again_when_it_changes() throws IOException {
    ECKey first = IdentityProvider.key(Curve.P_256, "first");
    ECKey second = IdentityProvider.key(Curve.P_256, "second");
    write(new JWKSet(first).toString());
    TokenValidation validation =
        new TokenValidation(
            SettingsOfTokens.of(Map.of("jwt.jwks-url", file.toUri(), "jwt.secret", Tokens.SECRET)));
    String firstToken = IdentityProvider.token("first", first);
    String secondToken = IdentityProvider.token("second", second);
    assertEquals(true, isValid(validation, firstToken));
    assertEquals(false, isValid(validation, secondToken));
    write(new JWKSet(second).toString());
    validation.renewKeys();
    assertEquals(false, isValid(validation, firstToken));
    assertEquals(true, isValid(validation, secondToken));
    write("{\"keys\":[]}");
    validation.renewKeys();
    assertEquals(true, isValid(validation, secondToken));
    assertEquals(true, isValid(validation, Tokens.valid()));
  }

  private TokenValidation withSecrets(String text) throws IOException {
    write(text);
    return new TokenValidation(SettingsOfTokens.of(Map.of("jwt.secret-file", file.toString())));
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text, ISO_8859_1);
  }

  private static void assertValid(TokenValidation validation, boolean isOld, boolean isNew) {
    assertEquals(isOld, isValid(validation, token(OLD)));
    assertEquals(isNew, isValid(validation, token(NEW)));
  }

  private static String token(String secret) {
    return Tokens.raw("{\"alg\":\"HS256\"}", Tokens.CLAIMS, secret.getBytes(ISO_8859_1));
  }
}
