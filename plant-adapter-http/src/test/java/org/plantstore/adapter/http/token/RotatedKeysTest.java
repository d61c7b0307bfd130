package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.http.token.SecretTokensTest.isValid;
import static org.plantstore.adapter.http.token.SecretTokensTest.settings;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.renewal.RenewedFiles;

class RotatedKeysTest {

  private static final String OLD = "the old secret, of 32 bytes or more";
  private static final String NEW = "the new secret, of 32 bytes or more";

  private final Path folder;
  private final Path file;
  private TokenKeys keys;
  private TokenValidation validation;

  RotatedKeysTest(@TempDir Path folder) throws IOException {
    this.folder = folder;
    file = folder.resolve("file");
    write(OLD);
    start(Map.of("jwt.secret-file", file.toString()));
  }

  @Test
  void secrets_of_all_lines_are_valid_until_their_line_is_removed() throws IOException {
    assertValid(true, false);
    for (String both : List.of(OLD + "\n" + NEW, NEW + "\n" + OLD + "\n")) {
      write(both);
      keys.renew();
      assertValid(true, true);
    }
    TokenKeys.Snapshot before = keys.current();
    keys.renew();
    assertSame(before.secrets(), keys.current().secrets(), "nothing is validated anew");
    // As Kubernetes does it: another folder, to which a link is moved.
    Path next =
        Files.createSymbolicLink(
            folder.resolve("next"), Files.writeString(folder.resolve("2"), NEW));
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    keys.renew();
    assertValid(false, true);
    assertNotEquals(before, keys.current(), "the removed secret is not remembered");
  }

  @Test
  void file_that_becomes_unusable_keeps_the_last_secrets_and_warns_after_10_seconds()
      throws IOException {
    try (Log log = new Log(RenewedFiles.class.getName())) {
      Files.delete(file);
      for (int second = 0; second < 3_600; second++) {
        if (second == 5) {
          write("short");
        }
        keys.renew();
      }
      assertValid(true, false);
      assertEquals(
          "JWT_SECRET_FILE cannot be renewed; 1 secret stays in use: each line of JWT_SECRET_FILE"
              + " must have at least 32 bytes, but has 5",
          log.await(1).get(0).getFormattedMessage());
      write(NEW);
      keys.renew();
      assertEquals(
          "JWT_SECRET_FILE has changed, and now has 1 secret",
          log.await(2).get(1).getFormattedMessage());
      assertValid(false, true);
    }
  }

  /** Of random secrets 22 % have a line break or a NUL. */
  @Test
  void secret_is_every_byte_of_its_line_or_any_bytes_in_either_alphabet_of_base64()
      throws IOException {
    StringBuilder all = new StringBuilder(" ");
    for (char each = 255; each > 0; each--) {
      all.append(each);
    }
    String line = all.append("\t ").toString().replace("\n", ""); // fits HS512, unlike OLD
    byte[] any = (all + "\0").getBytes(ISO_8859_1);
    for (Base64.Encoder each :
        List.of(Base64.getEncoder(), Base64.getUrlEncoder().withoutPadding())) {
      String text = "base64:" + each.encodeToString(any);
      withSecrets(OLD + "\n" + line + "\n" + text);
      assertEquals(true, isValid(validation, token("512", line)));
      assertEquals(false, isValid(validation, token(line.strip())));
      assertEquals(true, isValid(validation, token(new String(any, ISO_8859_1))));
      assertEquals(false, isValid(validation, token(text)));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', 'at least 32 bytes, but has 0'",
    "'OLD\n short', 'at least 32 bytes, but has 6'",
    "'OLD\nbase64:*', 'base64 or base64url after base64:, but has other text'",
    "'OLD\r\n', 'no NUL, byte order mark, or CARRIAGE RETURN at its end, but one has'",
    "'OLD\0', 'no NUL, byte order mark, or CARRIAGE RETURN at its end, but one has'",
    "'\u00ef\u00bb\u00bfOLD', 'no NUL, byte order mark, or CARRIAGE RETURN at its end, but one has'"
  })
  void unusable_line_ends_a_start(String text, String demand) throws IOException {
    write(text.replace("OLD", OLD));
    assertRefused("jwt.secret-file", file, "each line of JWT_SECRET_FILE must have " + demand);
  }

  /** Reading a device could exhaust the memory, or never end. */
  @Test
  void unusable_file_ends_a_start() throws IOException {
    write("x".repeat(256 * 1024 + 1));
    String unreadable = "JWT_SECRET_FILE must be a file that can be read, but %s cannot: ";
    assertRefused(
        "jwt.secret-file", file, unreadable.formatted(file) + "it has more than 262144 bytes");
    for (Path path : List.of(folder.resolve("missing"), folder, Path.of("/dev/zero"))) {
      assertRefused("jwt.secret-file", path, unreadable.formatted(path) + "it is no file");
    }
    write("{\"keys\":[]}");
    assertRefused(
        "jwt.jwks-url",
        file.toUri(),
        "JWT_JWKS_URL must be a file with a usable key set, but "
            + file
            + " is not: it has no usable key, 0 left out");
  }

  private static void assertRefused(String property, Object value, String message) {
    ConfigurationException refusal =
        assertThrows(ConfigurationException.class, () -> settings(Map.of(property, value)));
    assertEquals(message, refusal.getMessage());
  }

  @Test
  void key_set_in_a_file_is_read_again_when_it_changes() throws IOException {
    ECKey first = IdentityProvider.key(Curve.P_256, "first");
    ECKey second = IdentityProvider.key(Curve.P_256, "second");
    write(new JWKSet(first).toString());
    start(Map.of("jwt.jwks-url", file.toUri(), "jwt.secret", Tokens.SECRET));
    String firstToken = IdentityProvider.token("first", first);
    String secondToken = IdentityProvider.token("second", second);
    assertEquals(true, isValid(validation, firstToken));
    assertEquals(false, isValid(validation, secondToken));
    write(new JWKSet(second).toString());
    keys.renew();
    assertEquals(false, isValid(validation, firstToken));
    assertEquals(true, isValid(validation, secondToken));
    write("{\"keys\":[]}");
    keys.renew();
    assertEquals(true, isValid(validation, secondToken));
    assertEquals(true, isValid(validation, Tokens.valid()));
  }

  private void withSecrets(String text) throws IOException {
    write(text);
    start(Map.of("jwt.secret-file", file.toString()));
  }

  private void start(Map<String, Object> settings) {
    keys = new TokenKeys(settings(settings));
    validation = new TokenValidation(settings(settings), keys);
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text, ISO_8859_1);
  }

  private void assertValid(boolean isOld, boolean isNew) {
    assertEquals(isOld, isValid(validation, token(OLD)));
    assertEquals(isNew, isValid(validation, token(NEW)));
  }

  private static String token(String secret) {
    return token("256", secret);
  }

  private static String token(String bits, String secret) {
    String header = "{\"alg\":\"HS" + bits + "\"}";
    return Tokens.raw(header, Tokens.CLAIMS, secret.getBytes(ISO_8859_1));
  }
}
