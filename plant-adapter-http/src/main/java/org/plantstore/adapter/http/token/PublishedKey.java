package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.RSAKey;
import java.text.ParseException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Decides which public keys can verify tokens, and which tokens a key may verify. */
final class PublishedKey {

  /** The signature algorithms of public keys (RFC 7518, section 3.1). */
  static final List<JWSAlgorithm> ALGORITHMS =
      Stream.of("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512".split(" "))
          .map(JWSAlgorithm::parse)
          .toList();

  /** The members that are read. A fault in any other, such as {@code x5c}, spoils no key. */
  private static final List<String> READ_MEMBERS = List.of("kty alg kid crv x y n e".split(" "));

  /** SPIFFE's trust bundles contain keys with the use {@code jwt-svid}. */
  private static final List<Object> USES = List.of("sig", "jwt-svid");

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  private PublishedKey() {}

  /** Returns whether a token's algorithm requires a public key. */
  static boolean isFor(JWSHeader header) {
    return ALGORITHMS.contains(header.getAlgorithm());
  }

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

  /**
   * Reads a key of a key set (RFC 7517). An empty member counts as absent. {@link JWK#parse} alone
   * would refuse keys because of members that nothing reads here, and accept keys that cannot
   * verify a token.
   *
   * @throws ParseException with the reason if the key cannot verify tokens
   */
  static JWK read(Map<?, ?> members) throws ParseException {
    Map<String, Object> present = new HashMap<>();
    members.forEach((name, value) -> {
      if (value != null && !value.equals("") && !value.equals(List.of())) {
        present.put((String) name, value);
      }
    });
    Object use = present.getOrDefault("use", "sig");
    Object operations = present.getOrDefault("key_ops", List.of("verify"));
    require(!"oct".equals(present.get("kty")), "is a symmetric key");
    require(!"OKP".equals(present.get("kty")), "EdDSA is not supported");
    require(!present.containsKey("d"), "is a private key"); // anyone could sign with it
    require(USES.contains(use), "has the use " + use);
    require(
        operations instanceof List<?> all && all.contains("verify"),
        "has the key_ops " + operations + ", which must be an array that contains verify");
    require(
        !present.containsKey("x5c") || present.containsKey("n") || present.containsKey("x"),
        "has only x5c");
    present.keySet().retainAll(READ_MEMBERS);
    JWK key = JWK.parse(present);
    if (key instanceof RSAKey rsa) {
      int bits = rsa.getModulus().decodeToBigInteger().bitLength(); // size() counts whole bytes
      require(bits >= MIN_RSA_BITS, "has " + bits + " bits instead of at least " + MIN_RSA_BITS);
    }
    require(
        ALGORITHMS.stream()
            .anyMatch(each -> selector(new JWSHeader(each)).getMatcher().matches(key)),
        "has a kty, alg and crv that no supported algorithm combines");
    return key;
  }

  private static void require(boolean isMet, String otherwise) throws ParseException {
    if (!isMet) {
      throw new ParseException(otherwise, 0);
    }
  }
}
