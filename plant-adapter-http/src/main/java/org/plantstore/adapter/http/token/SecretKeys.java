package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.util.ByteUtils;
import io.micronaut.context.exceptions.ConfigurationException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The secrets for HS256, HS384, and HS512. There are several secrets during a rotation. Immutable.
 *
 * @param file the file that contains the secrets, or null if they are not in a file
 */
record SecretKeys(@Nullable Path file, List<SecretKeySpec> keys) {

  /** The minimum size of a key for HS256, which is the size of its hash (RFC 7518, section 3.2). */
  private static final int MIN_BYTES = 32;

  /**
   * Invisible bytes that an editor or a crash may leave in a file. HMAC ignores NUL bytes at the
   * end of a secret.
   */
  private static final Pattern INVISIBLE =
      Pattern.compile("\\x00|\\A\\xEF\\xBB\\xBF|\\r(?=\n|\\z)");

  private static final String BASE64 = "base64:";

  /** Returns one secret; throws ConfigurationException if it is unusable. */
  static SecretKeys of(String secret) {
    return new SecretKeys(null, List.of(key("JWT_SECRET", secret.getBytes(UTF_8))));
  }

  /** Reads one secret per line; throws ConfigurationException if any line is unusable. */
  static SecretKeys read(Path file) {
    // ISO 8859-1 preserves every byte, because a secret may consist of any bytes.
    String text =
        new String(RenewedFiles.bytes("JWT_SECRET_FILE", file), ISO_8859_1)
            .replaceFirst("\n\\z", "");
    if (INVISIBLE.matcher(text).find()) {
      throw new ConfigurationException(
          "JWT_SECRET_FILE must not contain NUL bytes, a byte order mark, or carriage returns at"
              + " the ends of lines, but contains one of them");
    }
    List<SecretKeySpec> keys = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      String subject = "line " + (keys.size() + 1) + " of JWT_SECRET_FILE";
      keys.add(key(subject, line.getBytes(ISO_8859_1)));
    }
    return new SecretKeys(file, List.copyOf(keys));
  }

  /** Returns a secret, which is decoded if the text begins with {@code base64:}. */
  private static SecretKeySpec key(String subject, byte[] text) {
    byte[] secret = text;
    String encoded = new String(text, ISO_8859_1);
    if (encoded.startsWith(BASE64)) {
      String standard = encoded.substring(BASE64.length()).replace('-', '+').replace('_', '/');
      try {
        secret = Base64.getDecoder().decode(standard);
      } catch (IllegalArgumentException e) { // the message would quote a character of the secret
        throw new ConfigurationException(
            subject + " must be valid base64 or base64url after the prefix base64:, but is not");
      }
    }
    if (secret.length < MIN_BYTES) {
      throw new ConfigurationException(
          subject + " must have at least " + MIN_BYTES + " bytes, but has " + secret.length);
    }
    return new SecretKeySpec(secret, "HMAC");
  }

  /** Reads the file again, if there is one, and returns the secrets that it contains now. */
  SecretKeys readAgain() {
    return file == null ? this : read(file);
  }

  /** Returns the secrets that are long enough for the algorithm in a token's header. */
  List<SecretKeySpec> select(JWSHeader header) {
    return keys.stream()
        .filter(key ->
            MACVerifier.getCompatibleAlgorithms(ByteUtils.bitLength(key.getEncoded()))
                .contains(header.getAlgorithm()))
        .toList();
  }

  /** Returns the number of secrets, but none of the secrets themselves. */
  @Override
  public String toString() {
    return keys.size() == 1 ? "1 secret" : keys.size() + " secrets";
  }
}
