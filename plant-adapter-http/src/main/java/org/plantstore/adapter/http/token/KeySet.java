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
import org.plantstore.adapter.http.renewal.RenewedFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys of a JSON Web Key Set (RFC 7517). {@link JWKSet#parse} would refuse the whole set
 * because of a single unusable key.
 *
 * @param usable the keys that can verify tokens
 * @param leftOut the other keys, each with the reason why it is left out
 */
record KeySet(JWKSet usable, List<String> leftOut) {

  private static final Logger LOG = LoggerFactory.getLogger(KeySet.class);

  static final KeySet EMPTY = new KeySet(new JWKSet(), List.of());

  /** Keys with these uses are ignored silently, because they are not meant for tokens. */
  private static final List<Object> OTHER_USES = List.of("enc", "x509-svid");

  private static final int MAX_FOREIGN_CHARACTERS = 1_000;

  /**
   * Reads the file that JWT_JWKS_URL names.
   *
   * @throws ConfigurationException if it contains no usable key
   */
  static KeySet read(Path file) {
    try {
      return parse(new String(RenewedFiles.bytes("JWT_JWKS_URL", file), UTF_8));
    } catch (ParseException e) {
      throw new ConfigurationException(
          "JWT_JWKS_URL must be a file with a usable key set, but "
              + file
              + " is not: "
              + printable(String.valueOf(e.getMessage())));
    }
  }

  /** Returns the keys; throws ParseException if none is usable. */
  static KeySet parse(String text) throws ParseException {
    Map<String, Object> document = JSONObjectUtils.parse(text);
    if (!(document.get("keys") instanceof List<?> keys)) {
      throw new ParseException(
          document.get("jwks_uri") instanceof String address
              ? "it is a discovery document; set JWT_JWKS_URL to its jwks_uri, \"" + address + '"'
              : "it has no array \"keys\"",
          0);
    }
    List<JWK> usable = new ArrayList<>();
    List<String> leftOut = new ArrayList<>();
    for (int index = 0; index < keys.size(); index++) {
      Map<?, ?> members = keys.get(index) instanceof Map<?, ?> object ? object : Map.of();
      try {
        if (!OTHER_USES.contains(String.valueOf(members.get("use")))) {
          usable.add(PublishedKey.read(members));
        }
      } catch (ParseException | RuntimeException e) { // such a key is ignored (RFC 7517, section 5)
        String name =
            members.get("kid") instanceof String id ? '"' + id + '"' : "key " + (index + 1);
        leftOut.add(printable(name + " (" + e.getMessage() + ")"));
      }
    }
    KeySet found = new KeySet(new JWKSet(usable), List.copyOf(leftOut));
    if (usable.isEmpty()) {
      throw new ParseException("its array \"keys\" has " + found, 0);
    }
    return found;
  }

  /**
   * Returns the beginning of a provider's or a token's text, made fit for one line of a message.
   */
  static String printable(String text) {
    String line = text.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), MAX_FOREIGN_CHARACTERS));
  }

  /** Logs the keys that are left out, if there are any. */
  void warn() {
    if (!leftOut.isEmpty()) {
      LOG.warn("The key set at JWT_JWKS_URL has keys that are left out: {}", this);
    }
  }

  /** Returns the number of usable keys, and each unusable key with the reason. */
  @Override
  public String toString() {
    return (usable.size() == 1 ? "1 usable key, " : usable.size() + " usable keys, ")
        + (leftOut.size() + " left out")
        + (leftOut.isEmpty() ? "" : ": ")
        + String.join(", ", leftOut);
  }
}
