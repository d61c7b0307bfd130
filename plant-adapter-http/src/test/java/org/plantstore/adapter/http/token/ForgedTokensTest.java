package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.token.SecretTokensTest.isValid;
import static org.plantstore.adapter.http.token.SecretTokensTest.validation;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.impl.ECDSA;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jose.util.ByteUtils;
import java.security.Key;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Tokens;

/**
 * Tests tokens that an attacker forges without the service's keys, by exploiting common faults of
 * libraries. These tokens must be invalid whether the service trusts a secret, an identity
 * provider, or both. The service must never fetch an address that a token contains.
 */
@Execution(ExecutionMode.CONCURRENT) // most tests wait for a fetch
class ForgedTokensTest {

  private static final byte[] SECRET = Tokens.SECRET.getBytes(UTF_8);

  static final List<ECKey> EC_KEYS =
      Stream.of(Curve.P_256, Curve.P_384, Curve.P_521)
          .map(curve -> IdentityProvider.key(curve, curve.getName()))
          .toList();

  private static RSAKey rsa;
  private static RSAKey rsaOfAttacker;
  @AutoClose private static IdentityProvider provider;
  @AutoClose private static IdentityProvider attacker;
  private static TokenValidation withProvider;
  private static TokenValidation withSecret;
  private static TokenValidation withBoth;

  @BeforeAll
  static void start() throws Exception {
    rsa = new RSAKeyGenerator(2048).keyID("rsa").generate();
    rsaOfAttacker = new RSAKeyGenerator(2048).keyID("rsa").generate();
    JWK encrypting = new RSAKey.Builder(rsa).keyID("encrypting").keyUse(KeyUse.ENCRYPTION).build();
    JWK ps256 = new RSAKey.Builder(rsa).keyID("ps256").algorithm(JWSAlgorithm.PS256).build();
    List<JWK> keys = new ArrayList<>(List.of(rsa, encrypting, ps256));
    keys.addAll(EC_KEYS);
    provider = new IdentityProvider(keys.toArray(JWK[]::new));
    attacker = new IdentityProvider(rsaOfAttacker);
    withSecret = validation(Map.of("jwt.secret", Tokens.SECRET));
    withProvider = validation(Map.of("jwt.jwks-url", provider.url()));
    withBoth = validation(Map.of("jwt.secret", Tokens.SECRET, "jwt.jwks-url", provider.url()));
    for (TokenValidation each : List.of(withProvider, withBoth)) {
      each.validate(signed("RS256", "", rsa)).join();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
  void rsa_key_verifies_every_algorithm_that_its_alg_and_use_allow(String algorithm)
      throws JOSEException {
    assertValid(signed(algorithm, "", rsa));
    assertValid(signed(algorithm, ",\"kid\":\"rsa\"", rsa));
    assertInvalid(signed(algorithm, "", rsaOfAttacker));
    assertInvalid(signed(algorithm, ",\"kid\":\"encrypting\"", rsa));
    String onlyPs256 = signed(algorithm, ",\"kid\":\"ps256\"", rsa);
    assertEquals(algorithm.equals("PS256"), isValid(withProvider, onlyPs256));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"none", "nOnE", "", "HS256\\u0000", "hs256", "rs256", "HS1", "EdDSA", "ES256K"})
  void token_without_a_supported_algorithm_is_invalid(String algorithm) throws JOSEException {
    String header = "{\"alg\":\"" + algorithm + "\",\"typ\":\"JWT\"}";
    String signed = Tokens.raw(header, Tokens.CLAIMS, SECRET);
    String unsigned = signed.substring(0, signed.lastIndexOf('.'));
    for (String end : List.of("", ".", ".AA", ".bm9uZQ")) {
      assertInvalid(unsigned + end);
    }
    assertInvalid(signed);
    assertInvalid(Tokens.signed(header, "RS256", new RSASSASigner(rsa)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"HS256", "HS384", "HS512"})
  void public_key_is_not_accepted_as_a_secret_in_any_encoding(String algorithm) throws Exception {
    byte[] der = rsa.toRSAPublicKey().getEncoded();
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    String pem = "-----BEGIN PUBLIC KEY-----\n" + lines + "\n-----END PUBLIC KEY-----\n";
    byte[] json = rsa.toPublicJWK().toJSONString().getBytes(UTF_8);
    List<byte[]> secrets = List.of(rsa.getModulus().decode(), der, pem.getBytes(UTF_8), json);
    for (byte[] secret : secrets) {
      for (String kid : List.of("", ",\"kid\":\"rsa\"")) {
        String header = "{\"alg\":\"" + algorithm + "\"" + kid + "}";
        assertInvalid(Tokens.raw(header, Tokens.CLAIMS, secret));
      }
    }
  }

  @Test
  void keys_that_tokens_contain_or_link_to_are_neither_used_nor_fetched() throws JOSEException {
    String keys =
        """
        "kid":"rsa","jwk":ATTACKERS_KEY
        "kid":"rsa","jku":"ATTACKER"
        "kid":"rsa","jku":"PROVIDER@ATTACKER"
        "kid":"rsa","x5u":"ATTACKER"
        "kid":"ATTACKER"
        "iss":"ATTACKER"
        "kid":"rsa"
        """
            .replace("ATTACKERS_KEY", rsaOfAttacker.toPublicJWK().toJSONString())
            .replace("ATTACKER", attacker.url().toString())
            .replace("PROVIDER", provider.url().toString());
    final int fetches = provider.fetches();
    final long start = System.nanoTime();
    List<String> tokens = new ArrayList<>();
    for (String key : keys.lines().toList()) {
      tokens.add(signed("RS256", "," + key, rsaOfAttacker));
      tokens.add(Tokens.raw("{\"alg\":\"HS256\"," + key + "}", Tokens.CLAIMS, new byte[1]));
    }
    // The tokens are validated concurrently, because one with an unknown key waits for a fetch.
    tokens.stream()
        .map(token ->
            CompletableFuture.completedFuture(token)
                .thenCompose(forged -> withProvider.validate(forged))
                .handle((claims, failure) -> claims))
        .toList()
        .forEach(valid -> assertNull(valid.join()));

    tokens.forEach(ForgedTokensTest::assertInvalid);
    assertEquals(0, attacker.fetches(), "fetches from the attacker");
    // withProvider and withBoth each start a fetch at most every 2.5 s, however slow the machine
    // is. Another test may have started the first of these fetches, which arrived only now.
    Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
    long permitted = 2 * (2 + elapsed.dividedBy(Duration.ofMillis(2_500)));
    assertTrue(provider.fetches() - fetches <= permitted, "too many fetches from the provider");
  }

  /** Some libraries have accepted zeros, or the curve's order, as a valid signature of any text. */
  @ParameterizedTest
  @FieldSource("EC_KEYS")
  void signature_with_another_encoding_or_values_out_of_range_is_invalid(ECKey key)
      throws JOSEException {
    String token = IdentityProvider.token(key.getKeyID(), key);
    assertValid(token);
    int start = token.lastIndexOf('.') + 1;
    byte[] valid = new Base64URL(token.substring(start)).decode();
    byte[] order = key.getCurve().toECParameterSpec().getOrder().toByteArray();
    byte[] half = Arrays.copyOfRange(order, order.length - valid.length / 2, order.length);
    for (byte[] signature :
        List.of(
            ECDSA.transcodeSignatureToDER(valid),
            Arrays.copyOf(valid, valid.length - 1),
            Arrays.copyOf(valid, valid.length + 1),
            new byte[valid.length],
            ByteUtils.concat(half, half))) {
      assertInvalid(token.substring(0, start) + Base64URL.encode(signature));
    }
  }

  @Test
  void key_that_cannot_verify_a_signature_does_not_hide_another_key() throws JOSEException {
    ECKey own = EC_KEYS.get(0);
    SignedJwt token = SignedJwt.parse(IdentityProvider.token("any", own));
    List<Key> unsuitable = List.of(rsa.toRSAPublicKey(), EC_KEYS.get(1).toECPublicKey());
    for (Key each : unsuitable) {
      assertFalse(TokenValidation.isSigned(token, List.of(each)));
      assertTrue(TokenValidation.isSigned(token, List.of(each, own.toECPublicKey())));
    }
  }

  private static String signed(String algorithm, String members, RSAKey key) throws JOSEException {
    String header = "{\"alg\":\"" + algorithm + "\"" + members + "}";
    return Tokens.signed(header, algorithm, new RSASSASigner(key));
  }

  private static void assertValid(String token) {
    assertTrue(isValid(withProvider, token), token);
    assertTrue(isValid(withBoth, token), token);
  }

  private static void assertInvalid(String token) {
    // The services run concurrently, because a token with an unknown key waits for a fetch.
    Stream.of(withProvider, withSecret, withBoth)
        .parallel()
        .forEach(each -> assertFalse(isValid(each, token), token));
  }
}
