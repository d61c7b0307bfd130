package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.util.ByteUtils;
import io.micronaut.context.exceptions.ConfigurationException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The secrets of HS256, HS384 and HS512: one, or several during a rotation. Immutable.
 *
 * @param file the file that contains the secrets, or null if none does
 */
record SecretKeys(@Nullable Path file, List<SecretKeySpec> keys) {

  /** RFC 7518, section 3.2: a key of the size of the hash output of HS256, or larger. */
  private static final int MIN_BYTES = 32;

  /** What an editor or a crash may leave in a file. HMAC ignores NUL at the end of a secret. */
  private static final Pattern OVERLOOKED =
      Pattern.compile("\\x00|\\A\\xEF\\xBB\\xBF|\\r(?=\n|\\z)");

  private static final String BASE64 = "base64:";

  static SecretKeys of(String secret) {
    return new SecretKeys(null, List.of(key("JWT_SECRET", secret.getBytes(UTF_8))));
  }

  /** Reads one secret per line; throws ConfigurationException if one is unusable. */
  static SecretKeys read(Path file) {
    // A secret may be any bytes, so each byte becomes one character until the lines are separate.
    String text =
        new String(RenewedFiles.bytes("JWT_SECRET_FILE", file), ISO_8859_1)
            .replaceFirst("\n\\z", "");
    String demand = "each line of JWT_SECRET_FILE";
    if (OVERLOOKED.matcher(text).find()) {
      throw new ConfigurationException(
          demand
              + " must have no NUL, byte order mark, or CARRIAGE RETURN at its end, but one has");
    }
    Stream<String> secrets = Stream.of(text.split("\n", -1));
    return new SecretKeys(
        file, secrets.map(secret -> key(demand, secret.getBytes(ISO_8859_1))).toList());
  }

  /** Returns a secret, decoded if it begins with {@code base64:}. */
  private static SecretKeySpec key(String subject, byte[] text) {
    byte[] secret = text;
    String encoded = new String(text, ISO_8859_1);
    if (encoded.startsWith(BASE64)) {
      String standard = encoded.substring(BASE64.length()).replace('-', '+').replace('_', '/');
      try {
        secret = Base64.getDecoder().decode(standard);
      } catch (IllegalArgumentException e) { // its message quotes a character
        throw new ConfigurationException(
            subject + " must have base64 or base64url after base64:, but has other text");
      }
    }
    if (secret.length < MIN_BYTES) {
      throw new ConfigurationException(
          subject + " must have at least " + MIN_BYTES + " bytes, but has " + secret.length);
    }
    return new SecretKeySpec(secret, "HMAC");
  }

  /** Returns the secrets that the file contains now. */
  SecretKeys readAgain() {
    return file == null ? this : read(file);
  }

  /** Returns the secrets that are long enough for the algorithm of a token. */
  List<SecretKeySpec> select(JWSHeader header) {
    return keys.stream()
        .filter(key ->
            MACVerifier.getCompatibleAlgorithms(ByteUtils.bitLength(key.getEncoded()))
                .contains(header.getAlgorithm()))
        .toList();
  }

  /** Returns the number of secrets. */
  @Override
  public String toString() {
    return keys.size() == 1 ? "1 secret" : keys.size() + " secrets";
  }
}
