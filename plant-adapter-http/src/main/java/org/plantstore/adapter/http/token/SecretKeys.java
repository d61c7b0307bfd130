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
 * The secrets for HS256, HS384, and HS512. More than one secret may be configured, so that a secret
 * can be replaced without an interruption. Immutable.
 *
 * @param file the file that contains the secrets, or null if they are not in a file
 */
record SecretKeys(@Nullable Path file, List<SecretKeySpec> keys) {

  /**
   * The minimum size of an HS256 key, which equals the size of the hash (RFC 7518, section 3.2).
   */
  private static final int MIN_BYTES = 32;

  /**
   * Matches invisible bytes that an editor or a crash may leave in a file. A short secret that ends
   * with NUL bytes would appear to be long enough, although HMAC ignores those bytes.
   */
  private static final Pattern INVISIBLE =
      Pattern.compile("\\x00|\\A\\xEF\\xBB\\xBF|\\r(?=\n|\\z)");

  private static final String BASE64 = "base64:";

  /**
   * Creates an instance with one secret; throws ConfigurationException if the secret is unusable.
   */
  static SecretKeys of(String secret) {
    return new SecretKeys(null, List.of(key("JWT_SECRET", secret.getBytes(UTF_8))));
  }

  /** Reads a file with one secret per line; throws ConfigurationException if a line is unusable. */
  static SecretKeys read(Path file) {
    // A secret may consist of any bytes, and ISO 8859-1 preserves them all.
    String text =
        new String(RenewedFiles.bytes("JWT_SECRET_FILE", file), ISO_8859_1)
            .replaceFirst("\n\\z", "");
    if (INVISIBLE.matcher(text).find()) {
      throw new ConfigurationException(
          "JWT_SECRET_FILE must not contain a NUL byte, a byte order mark, or a carriage return at"
              + " the end of a line; save the file as plain text with Unix line endings");
    }
    List<SecretKeySpec> keys = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      String subject = "line " + (keys.size() + 1) + " of JWT_SECRET_FILE";
      keys.add(key(subject, line.getBytes(ISO_8859_1)));
    }
    return new SecretKeys(file, List.copyOf(keys));
  }

  /** Converts text to a secret. If the text begins with {@code base64:}, the rest is decoded. */
  private static SecretKeySpec key(String subject, byte[] text) {
    byte[] secret = text;
    String encoded = new String(text, ISO_8859_1);
    if (encoded.startsWith(BASE64)) {
      String standard = encoded.substring(BASE64.length()).replace('-', '+').replace('_', '/');
      try {
        secret = Base64.getDecoder().decode(standard);
      } catch (IllegalArgumentException e) { // its message quotes a character of the secret
        throw new ConfigurationException(
            subject + " must contain valid base64 or base64url after the prefix \"base64:\"");
      }
    }
    if (secret.length < MIN_BYTES) {
      throw new ConfigurationException(
          subject + " must have at least " + MIN_BYTES + " bytes, but has " + secret.length);
    }
    return new SecretKeySpec(secret, "HMAC");
  }

  /** Returns the secrets that the file contains now, or this object if there is no file. */
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

  /** Returns the number of secrets without revealing any of them. */
  @Override
  public String toString() {
    return keys.size() == 1 ? "1 secret" : keys.size() + " secrets";
  }
}
