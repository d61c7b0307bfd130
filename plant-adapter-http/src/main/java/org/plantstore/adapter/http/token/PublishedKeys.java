package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSet;
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
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.plantstore.adapter.http.renewal.RenewedFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys that an identity provider publishes (RFC 7517).
 *
 * @param usable the keys that can verify tokens
 * @param leftOut the number of others
 */
record PublishedKeys(JWKSet usable, int leftOut) {

  private static final Logger LOG = LoggerFactory.getLogger(PublishedKeys.class);

  /** The algorithms of public keys (RFC 7518, section 3.1). */
  static final Set<JWSAlgorithm> ALGORITHMS =
      Stream.of("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512".split(" "))
          .map(JWSAlgorithm::parse)
          .collect(Collectors.toUnmodifiableSet());

  /** A token that names no key may be checked with each of them. */
  private static final int MAX_KEYS = 100;

  /** A fault in another member, such as {@code x5c}, does not make a key unusable. */
  private static final List<String> READ_MEMBERS =
      List.of("kty use key_ops alg kid crv x y n e d p q dp dq qi oth k".split(" "));

  /** The use of keys in a trust bundle of SPIFFE. */
  private static final KeyUse SPIFFE = new KeyUse("jwt-svid");

  /** Uses of keys that are not meant for tokens, of which nobody need be told. */
  private static final List<String> OTHER_USES = List.of("enc", "x509-svid");

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  /**
   * Returns which keys may verify a token. A key without {@code kid}, which is optional (RFC 7517,
   * section 4.5), may verify any token. Published private keys do not match: anyone could sign with
   * them.
   */
  static JWKMatcher matcher(JWSHeader header) {
    JWKMatcher.Builder matcher =
        new JWKMatcher.Builder()
            .keyType(KeyType.forAlgorithm(header.getAlgorithm()))
            .curves(Curve.forJWSAlgorithm(header.getAlgorithm()))
            .keyUses(KeyUse.SIGNATURE, SPIFFE, null)
            .algorithms(header.getAlgorithm(), null)
            .publicOnly(true);
    return (header.getKeyID() == null ? matcher : matcher.keyIDs(header.getKeyID(), null)).build();
  }

  /** Reads a file; throws ConfigurationException with the remedy if it has no usable key. */
  static PublishedKeys read(Path file) {
    String text = RenewedFiles.text("JWT_JWKS_URL", file);
    try {
      return parse(new String(text.getBytes(ISO_8859_1), UTF_8));
    } catch (ParseException | StackOverflowError e) {
      String reason = ProviderKeySet.printable(String.valueOf(e.getMessage()), 200);
      throw new ConfigurationException(
          "JWT_JWKS_URL must be a file with a usable key set, but " + file + " is not: " + reason);
    }
  }

  /** Logs how many keys are left out, if there are any. */
  void warnOfLeftOut() {
    if (leftOut > 0) {
      LOG.warn("The key set at JWT_JWKS_URL has keys that are left out, {}", this);
    }
  }

  /** Returns the usable keys; other keys are ignored (RFC 7517, section 5). */
  static PublishedKeys parse(String text) throws ParseException {
    List<Object> keys = JSONObjectUtils.getJSONArray(JSONObjectUtils.parse(text), "keys");
    if (keys == null || keys.size() > MAX_KEYS) {
      throw new ParseException("there must be \"keys\", at most " + MAX_KEYS, 0);
    }
    List<JWK> usable = new ArrayList<>();
    int leftOut = 0;
    for (Object each : keys) {
      Map<String, Object> members = new HashMap<>();
      if (each instanceof Map<?, ?> object) {
        READ_MEMBERS.forEach(name -> members.put(name, object.get(name)));
      }
      try {
        if (!OTHER_USES.contains(String.valueOf(members.get("use")))) {
          usable.add(usable(members));
        }
      } catch (ParseException | RuntimeException e) {
        leftOut++;
      }
    }
    PublishedKeys published = new PublishedKeys(new JWKSet(usable), leftOut);
    require(
        !usable.isEmpty(), "let the provider sign with an RS, PS or ES algorithm; " + published);
    return published;
  }

  /** Returns the key; throws ParseException if it verifies no tokens. */
  private static JWK usable(Map<String, Object> members) throws ParseException {
    Object operations = members.remove("key_ops");
    boolean isVerifying =
        operations == null || (operations instanceof List<?> known && known.contains("verify"));
    JWK key = JWK.parse(members);
    // Not size(), which counts whole bytes.
    boolean isLarge =
        !(key instanceof RSAKey rsa)
            || rsa.getModulus().decodeToBigInteger().bitLength() >= MIN_RSA_BITS;
    boolean isFitting =
        ALGORITHMS.stream().anyMatch(algorithm -> matcher(new JWSHeader(algorithm)).matches(key));
    require(isVerifying && isLarge && isFitting, "it verifies no tokens");
    return key;
  }

  private static void require(boolean isMet, String otherwise) throws ParseException {
    if (!isMet) {
      throw new ParseException(otherwise, 0);
    }
  }

  /** Returns the number of keys of both kinds. */
  @Override
  public String toString() {
    String count = usable.size() == 1 ? "1 usable key, " : usable.size() + " usable keys, ";
    return count + leftOut + " left out";
  }
}
