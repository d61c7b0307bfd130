package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.plantstore.adapter.http.token.SecretTokensTest.isValid;
import static org.plantstore.adapter.http.token.SecretTokensTest.settings;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
  void secret_on_each_line_is_valid_until_the_line_is_removed() throws IOException {
    assertValid(true, false);
    for (String both : List.of(OLD + "\n" + NEW, NEW + "\n" + OLD + "\n")) {
      write(both);
      keys.renew();
      assertValid(true, true);
    }
    TokenKeys.Snapshot before = keys.current();
    keys.renew();
    assertSame(before.secrets(), keys.current().secrets(), "no token needs to be validated again");
    // Kubernetes also replaces a file by moving a symbolic link.
    Path next =
        Files.createSymbolicLink(
            folder.resolve("next"), Files.writeString(folder.resolve("2"), NEW));
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    keys.renew();
    assertValid(false, true);
    assertNotEquals(before, keys.current(), "the removed secret is no longer cached");
  }

  @Test
  void last_secrets_remain_in_use_with_one_warning_while_the_file_is_unusable() throws IOException {
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
          "JWT_SECRET_FILE cannot be reloaded; 1 secret will remain in use: line 1 of"
              + " JWT_SECRET_FILE must have at least 32 bytes, but has 5",
          log.await(1).get(0).getFormattedMessage());
      write(NEW);
      keys.renew();
      assertEquals(
          "JWT_SECRET_FILE has changed; now using 1 secret",
          log.await(2).get(1).getFormattedMessage());
      assertValid(false, true);
    }
  }

  /** About 22% of random 32-byte secrets contain a line break or a NUL, so they require base64. */
  @Test
  void secret_is_the_exact_bytes_of_its_line_or_any_bytes_in_base64_or_base64url()
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
