package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.JSONObjectUtils;
import io.micronaut.context.exceptions.ConfigurationException;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The public keys of a JSON Web Key Set (RFC 7517).
 *
 * @param usable the keys that can verify tokens
 * @param leftOut the number of others
 */
record KeySet(JWKSet usable, int leftOut) {

  /** The algorithms of public keys (RFC 7518, section 3.1). */
  static final Set<JWSAlgorithm> ALGORITHMS =
      Stream.of("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512".split(" "))
          .map(JWSAlgorithm::parse)
          .collect(Collectors.toUnmodifiableSet());

  /** A fault in another member, such as {@code x5c}, does not make a key unusable. */
  private static final List<String> READ_MEMBERS =
      List.of("kty use key_ops alg kid crv x y n e d".split(" "));

  /** The use of keys in a trust bundle of SPIFFE. */
  private static final KeyUse SPIFFE = new KeyUse("jwt-svid");

  /** Uses of keys that are not meant for tokens. Such keys are not counted as left out. */
  private static final List<String> OTHER_USES = List.of("enc", "x509-svid");

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  /**
   * Returns the selector of the keys that may verify a token. A key without {@code kid}, which is
   * optional (RFC 7517, section 4.5), may verify any token. Published private keys are not
   * selected: anyone could sign with them.
   */
  static JWKSelector selector(JWSHeader header) {
    JWKMatcher.Builder matcher =
        new JWKMatcher.Builder()
            .keyType(KeyType.forAlgorithm(header.getAlgorithm()))
            .curves(Curve.forJWSAlgorithm(header.getAlgorithm()))
            .keyUses(KeyUse.SIGNATURE, SPIFFE, null)
            .algorithms(header.getAlgorithm(), null)
            .publicOnly(true);
    if (header.getKeyID() != null) {
      matcher.keyIDs(header.getKeyID(), null);
    }
    return new JWKSelector(matcher.build());
  }

  /** Reads a file; throws ConfigurationException if it has no usable key. */
  static KeySet read(Path file) {
    String text = RenewedFiles.text("JWT_JWKS_URL", file);
    try {
      return parse(new String(text.getBytes(ISO_8859_1), UTF_8));
    } catch (ParseException e) {
      throw new ConfigurationException(
          "JWT_JWKS_URL must be a file with a usable key set, but "
              + file
              + " is not: "
              + ProviderKeySet.printable(String.valueOf(e.getMessage())));
    }
  }

  /** Returns the keys; throws ParseException if none is usable. */
  static KeySet parse(String text) throws ParseException {
    List<JWK> usable = new ArrayList<>();
    int leftOut = 0;
    List<Object> keys = JSONObjectUtils.getJSONArray(JSONObjectUtils.parse(text), "keys");
    for (Object each : Objects.requireNonNullElse(keys, List.of())) {
      Map<String, Object> members = new HashMap<>();
      if (each instanceof Map<?, ?> object) {
        READ_MEMBERS.forEach(name -> members.put(name, object.get(name)));
      }
      if (!OTHER_USES.contains(String.valueOf(members.get("use")))
          && !addIfUsable(members, usable)) {
        leftOut++;
      }
    }
    if (usable.isEmpty()) {
      throw new ParseException("it has no usable key, " + leftOut + " left out", 0);
    }
    return new KeySet(new JWKSet(usable), leftOut);
  }

  /** Adds a key that can verify tokens; others are ignored (RFC 7517, section 5). */
  private static boolean addIfUsable(Map<String, Object> members, List<JWK> usable) {
    try {
      JWK key = JWK.parse(members);
      // Not size(), which counts whole bytes.
      boolean isLarge =
          !(key instanceof RSAKey rsa)
              || rsa.getModulus().decodeToBigInteger().bitLength() >= MIN_RSA_BITS;
      Set<KeyOperation> operations = key.getKeyOperations();
      return isLarge
          && (operations == null || operations.contains(KeyOperation.VERIFY))
          && ALGORITHMS.stream()
              .map(algorithm -> selector(new JWSHeader(algorithm)).getMatcher())
              .anyMatch(matcher -> matcher.matches(key))
          && usable.add(key);
    } catch (ParseException | RuntimeException e) {
      return false;
    }
  }

  /** Returns the number of keys of both kinds. */
  @Override
  public String toString() {
    String count = usable.size() == 1 ? "1 usable key, " : usable.size() + " usable keys, ";
    return count + leftOut + " left out";
  }
}
