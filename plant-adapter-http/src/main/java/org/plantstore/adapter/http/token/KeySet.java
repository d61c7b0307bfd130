package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.util.JSONObjectUtils;
import io.micronaut.context.exceptions.ConfigurationException;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.plantstore.adapter.http.renewal.RenewedFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys of a JSON Web Key Set (RFC 7517).
 *
 * @param usable the keys that can verify tokens
 * @param leftOut the keys that cannot be used, each with the reason
 */
record KeySet(JWKSet usable, List<String> leftOut) {

  private static final Logger LOG = LoggerFactory.getLogger(KeySet.class);

  /** The algorithms of public keys (RFC 7518, section 3.1). */
  static final List<JWSAlgorithm> ALGORITHMS =
      Stream.of("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512".split(" "))
          .map(JWSAlgorithm::parse)
          .toList();

  /** Uses of keys that are not meant for tokens. Such keys are not reported as left out. */
  private static final List<Object> OTHER_USES = List.of("enc", "x509-svid");

  /**
   * Returns the selector of the keys that may verify a token. A key without {@code kid}, which is
   * optional (RFC 7517, section 4.5), may verify any token.
   */
  static JWKSelector selector(JWSHeader header) {
    JWKMatcher.Builder matcher =
        new JWKMatcher.Builder()
            .keyType(KeyType.forAlgorithm(header.getAlgorithm()))
            .curves(Curve.forJWSAlgorithm(header.getAlgorithm()))
            .algorithms(header.getAlgorithm(), null);
    if (header.getKeyID() != null) {
      matcher.keyIDs(header.getKeyID(), null);
    }
    return new JWKSelector(matcher.build());
  }

  /** Reads a file; throws ConfigurationException if it has no usable key. */
  static KeySet read(Path file) {
    try {
      return parse(new String(RenewedFiles.bytes("JWT_JWKS_URL", file), UTF_8));
    } catch (ParseException e) {
      throw new ConfigurationException(
          "JWT_JWKS_URL must be a file with a usable key set, but "
              + file
              + " is not: "
              + KeySetClient.printable(String.valueOf(e.getMessage())));
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
        leftOut.add(KeySetClient.printable(name + " (" + e.getMessage() + ")"));
      }
    }
    KeySet found = new KeySet(new JWKSet(usable), List.copyOf(leftOut));
    if (usable.isEmpty()) {
      throw new ParseException("it has no usable key, " + found.listed(), 0);
    }
    return found;
  }

  /** Logs the keys that are left out, if there are any. */
  void warn() {
    if (!leftOut.isEmpty()) {
      LOG.warn("The key set at JWT_JWKS_URL has keys that are left out: {}", this);
    }
  }

  /** Returns the number of usable keys, and the others with the reasons. */
  @Override
  public String toString() {
    return (usable.size() == 1 ? "1 usable key, " : usable.size() + " usable keys, ") + listed();
  }

  private String listed() {
    return leftOut.size()
        + " left out"
        + (leftOut.isEmpty() ? "" : ": ")
        + String.join(", ", leftOut);
  }
}
