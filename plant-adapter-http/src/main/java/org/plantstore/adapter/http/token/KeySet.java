package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.util.JSONObjectUtils;
import io.micronaut.context.exceptions.ConfigurationException;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.plantstore.adapter.http.renewal.RenewedFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys in a JSON Web Key Set (RFC 7517). This class does not use {@link JWKSet#parse},
 * because that method rejects the entire set if a single key is unusable.
 *
 * @param usable the keys that can verify tokens
 * @param unusable the name of each unusable key, followed by the reason why it is unusable
 */
record KeySet(JWKSet usable, List<String> unusable) {

  private static final Logger LOG = LoggerFactory.getLogger(KeySet.class);

  static final KeySet EMPTY = new KeySet(new JWKSet(), List.of());

  /** Keys with these {@code use} values are ignored, because they are not meant for tokens. */
  private static final List<Object> OTHER_USES = List.of("enc", "x509-svid");

  private static final int MAX_QUOTED_CHARACTERS = 1_000;

  /**
   * Reads a key set from the file that JWT_JWKS_URL names.
   *
   * @throws ConfigurationException if the file cannot be read, or contains no usable key
   */
  static KeySet read(Path file) {
    try {
      return parse(new String(RenewedFiles.bytes("JWT_JWKS_URL", file), UTF_8));
    } catch (ParseException e) {
      throw new ConfigurationException(
          "JWT_JWKS_URL must name a file with a usable key set, but %s %s"
              .formatted(file, printable(String.valueOf(e.getMessage()))));
    }
  }

  /**
   * Parses a key set in JSON format.
   *
   * @throws ParseException if the text contains no usable key. The message completes a sentence
   *     about the key set, as {@code is not a JSON object} does.
   */
  static KeySet parse(String text) throws ParseException {
    Map<?, ?> document = object(text);
    if (!(document.get("keys") instanceof List<?> keys)) {
      throw new ParseException(
          document.get("jwks_uri") instanceof String address
              ? "is a discovery document; set JWT_JWKS_URL to its jwks_uri, \"" + address + '"'
              : "contains no \"keys\" array",
          0);
    }
    List<JWK> usable = new ArrayList<>();
    List<String> unusable = new ArrayList<>();
    for (int index = 0; index < keys.size(); index++) {
      Map<?, ?> members = keys.get(index) instanceof Map<?, ?> object ? object : Map.of();
      try {
        if (!OTHER_USES.contains(String.valueOf(members.get("use")))) {
          usable.add(PublishedKey.read(members));
        }
      } catch (ParseException | RuntimeException e) { // ignore the key (RFC 7517, section 5)
        String name =
            members.get("kid") instanceof String id ? '"' + id + '"' : "key " + (index + 1);
        unusable.add(printable(name + " (" + e.getMessage() + ")"));
      }
    }
    if (usable.isEmpty()) {
      String found = unusable.isEmpty() ? "" : ": " + String.join(", ", unusable);
      throw new ParseException("contains no usable key" + found, 0);
    }
    return new KeySet(new JWKSet(usable), List.copyOf(unusable));
  }

  private static Map<?, ?> object(String text) throws ParseException {
    try {
      return Objects.requireNonNullElse(JSONObjectUtils.parse(text), Map.of());
    } catch (ParseException e) {
      throw new ParseException("is not a JSON object", 0);
    }
  }

  /** Shortens untrusted text to 1,000 characters, and replaces all but printable ASCII with "?". */
  static String printable(String text) {
    String line = text.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), MAX_QUOTED_CHARACTERS));
  }

  void warnOfUnusableKeys() {
    if (!unusable.isEmpty()) {
      LOG.warn(
          "The key set at JWT_JWKS_URL contains unusable keys: {}", String.join(", ", unusable));
    }
  }

  /** Returns the number of usable keys, followed by a description of each unusable key. */
  @Override
  public String toString() {
    return (usable.size() == 1 ? "1 usable key" : usable.size() + " usable keys")
        + (unusable.isEmpty() ? "" : "; unusable: ")
        + String.join(", ", unusable);
  }
}
