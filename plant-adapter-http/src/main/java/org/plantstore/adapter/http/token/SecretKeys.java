package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.util.ByteUtils;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The secrets of HS256, HS384 and HS512: one, or several during a rotation.
 *
 * @param file the file of JWT_SECRET_FILE, or null if the secret is that of JWT_SECRET
 */
record SecretKeys(@Nullable Path file, List<SecretKeySpec> keys) {

  /** RFC 7518, section 3.2: a key of the size of the hash output of HS256, or larger. */
  private static final int MIN_BYTES = 32;

  /** A token may be checked with each of them. */
  private static final int MAX_SECRETS = 16;

  static SecretKeys of(String secret) {
    return new SecretKeys(null, List.of(key("JWT_SECRET", secret.getBytes(UTF_8))));
  }

  /**
   * Reads the secrets of a file, one a line, byte by byte.
   *
   * @throws ConfigurationException if the file cannot be read, or has an unusable line
   */
  static SecretKeys read(Path file) {
    String text;
    try {
      text = Files.readString(file, ISO_8859_1); // a character for each byte
    } catch (IOException e) {
      String reason = e.getClass().getSimpleName();
      throw new ConfigurationException(
          "JWT_SECRET_FILE must be a file that can be read, but " + file + " cannot: " + reason);
    }
    String[] lines = text.replaceFirst("\n\\z", "").split("\n", -1);
    if (lines.length > MAX_SECRETS) {
      String demand = "JWT_SECRET_FILE must have at most " + MAX_SECRETS + " lines";
      throw new ConfigurationException(demand + ", but has " + lines.length);
    }
    List<SecretKeySpec> keys = new ArrayList<>();
    for (String line : lines) {
      String place = "line " + (keys.size() + 1) + " of JWT_SECRET_FILE";
      if (line.endsWith("\r")) {
        throw new ConfigurationException(place + " must not end with CARRIAGE RETURN, but does");
      }
      keys.add(key(place, line.getBytes(ISO_8859_1)));
    }
    return new SecretKeys(file, List.copyOf(keys));
  }

  private static SecretKeySpec key(String place, byte[] secret) {
    if (secret.length < MIN_BYTES) {
      throw new ConfigurationException(
          place + " must have at least " + MIN_BYTES + " bytes, but has " + secret.length);
    }
    return new SecretKeySpec(secret, "HMAC");
  }

  /** Returns what the file has now. */
  SecretKeys readAgain() {
    return file == null ? this : read(file);
  }

  /** Returns the secrets that are long enough for the algorithm of a token. */
  List<SecretKeySpec> select(JWSHeader header) {
    return keys.stream().filter(key -> algorithms(key).contains(header.getAlgorithm())).toList();
  }

  private static Set<JWSAlgorithm> algorithms(SecretKeySpec key) {
    return MACVerifier.getCompatibleAlgorithms(ByteUtils.bitLength(key.getEncoded()));
  }

  /** Returns the number of secrets. */
  @Override
  public String toString() {
    return keys.size() == 1 ? "1 secret" : keys.size() + " secrets";
  }
}
