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

/** Decides which public keys are usable, and which tokens each key may verify. */
final class PublishedKey {

  /** The supported public-key signature algorithms (RFC 7518, section 3.1). */
  static final List<JWSAlgorithm> ALGORITHMS =
      Stream.of("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512".split(" "))
          .map(JWSAlgorithm::parse)
          .toList();

  /**
   * Only these members of a key are passed to Nimbus. All other members are removed first, because
   * Nimbus would reject a key with an invalid {@code x5c}, for example.
   */
  private static final List<String> READ_MEMBERS = List.of("kty alg kid crv x y n e".split(" "));

  /** The {@code use} values of keys that verify tokens. SPIFFE uses {@code jwt-svid}. */
  private static final List<Object> USES = List.of("sig", "jwt-svid");

  /** The minimum size of an RSA key (RFC 7518, sections 3.3 and 3.5). */
  private static final int MIN_RSA_BITS = 2048;

  private PublishedKey() {}

  /** Returns whether a token with this header must be verified with a public key. */
  static boolean isFor(JWSHeader header) {
    return ALGORITHMS.contains(header.getAlgorithm());
  }

  /**
   * Returns a selector for the keys that match a token's header. Because {@code kid} is optional
   * (RFC 7517, section 4.5), a key without a {@code kid} matches a token with any {@code kid}.
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
   * Reads a key from a key set (RFC 7517). A member that is null, an empty string, or an empty
   * array is treated as absent. {@link JWK#parse} alone would reject some keys because of members
   * that this service ignores, and would accept some keys that cannot verify tokens.
   *
   * @throws ParseException if the key cannot verify tokens. The exception's message states why.
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
    require(!"oct".equals(present.get("kty")), "it is a symmetric key");
    require(!"OKP".equals(present.get("kty")), "EdDSA is not supported");
    require(!present.containsKey("d"), "it is a private key"); // anyone could sign tokens with it
    require(USES.contains(use), "its use must be \"sig\", but is \"" + use + '"');
    require(
        operations instanceof List<?> all && all.contains("verify"),
        "its key_ops must be an array that contains \"verify\", but is " + operations);
    require(
        !present.containsKey("x5c") || present.containsKey("n") || present.containsKey("x"),
        "it contains only a certificate (x5c); the provider must also publish n and e, or x and y");
    present.keySet().retainAll(READ_MEMBERS);
    JWK key = JWK.parse(present);
    if (key instanceof RSAKey rsa) {
      int bits = rsa.getModulus().decodeToBigInteger().bitLength(); // size() rounds up to bytes
      require(
          bits >= MIN_RSA_BITS,
          "an RSA key must have at least 2048 bits, but this one has " + bits);
    }
    require(
        ALGORITHMS.stream()
            .anyMatch(each -> selector(new JWSHeader(each)).getMatcher().matches(key)),
        "no supported algorithm matches its combination of kty, alg, and crv");
    return key;
  }

  private static void require(boolean isMet, String fault) throws ParseException {
    if (!isMet) {
      throw new ParseException(fault, 0);
    }
  }
}
