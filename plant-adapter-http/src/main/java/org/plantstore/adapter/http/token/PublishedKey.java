package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import java.text.ParseException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads a key of a key set (RFC 7517). An empty member counts as absent. */
final class PublishedKey {

  /** A fault in another member, such as {@code x5c}, does not make a key unusable. */
  private static final List<String> READ_MEMBERS = List.of("kty alg kid crv x y n e".split(" "));

  /** {@code jwt-svid} is the use of keys in a trust bundle of SPIFFE. */
  private static final List<Object> USES = List.of("sig", "jwt-svid");

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  private PublishedKey() {}

  /** Returns the key; throws ParseException with the reason if it cannot verify tokens. */
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
        "has the key_ops " + operations + " without verify");
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
        KeySet.ALGORITHMS.stream()
            .anyMatch(each -> KeySet.selector(new JWSHeader(each)).getMatcher().matches(key)),
        "has the unsupported alg " + key.getAlgorithm() + " or crv " + present.get("crv"));
    return key;
  }

  private static void require(boolean isMet, String otherwise) throws ParseException {
    if (!isMet) {
      throw new ParseException(otherwise, 0);
    }
  }
}
