package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.DirectEncrypter;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.impl.ECDSA;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import java.math.BigInteger;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Tokens;

/**
 * Tokens of somebody who has no key of the service, and knows what libraries got wrong: all are
 * invalid, with a secret as well as with an identity provider, and nothing that they name is
 * fetched.
 */
class ForgedTokensTest {

  private static final byte[] SECRET = Tokens.SECRET.getBytes(UTF_8);
  private static final String CLAIMS = "{\"exp\":4102444800}";
  private static final int CHANGED_TOKENS = 10_000;

  private static RSAKey rsa;
  private static RSAKey rsaOfAttacker;
  private static ECKey p256;
  private static ECKey p384;
  private static ECKey p521;
  private static IdentityProvider provider;
  private static IdentityProvider attacker;
  private static TokenValidation withProvider;
  private static TokenValidation withSecret;

  @BeforeAll
  static void start() throws Exception {
    rsa = new RSAKeyGenerator(2048).keyID("rsa").generate();
    rsaOfAttacker = new RSAKeyGenerator(2048).keyID("rsa").generate();
    p256 = new ECKeyGenerator(Curve.P_256).keyID("p256").generate();
    p384 = new ECKeyGenerator(Curve.P_384).keyID("p384").generate();
    p521 = new ECKeyGenerator(Curve.P_521).keyID("p521").generate();
    provider = new IdentityProvider(rsa, p256, p384, p521);
    attacker = new IdentityProvider(rsaOfAttacker);
    withSecret =
        new TokenValidation(new TokenSettings(SECRET, null, null, null), ForkJoinPool.commonPool());
    withProvider =
        new TokenValidation(
            new TokenSettings(null, URI.create(provider.url()).toURL(), null, null),
            ForkJoinPool.commonPool());
  }

  @AfterAll
  static void stop() {
    provider.close();
    attacker.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
  void every_algorithm_of_an_rsa_key_is_valid(String algorithm) throws JOSEException {
    assertValid(
        withProvider, signed("{\"alg\":\"%s\",\"kid\":\"rsa\"}", algorithm, new RSASSASigner(rsa)));
    assertValid(withProvider, signed("{\"alg\":\"%s\"}", algorithm, new RSASSASigner(rsa)));
    assertInvalid(signed("{\"alg\":\"%s\"}", algorithm, new RSASSASigner(rsaOfAttacker)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "none", "None", "NONE", "nOnE", " none", "none ", "", "null",
        "HS256\\u0000", "hs256", "rs256", "RS1", "HS1", "EdDSA", "ES256K", "RSA1_5",
        "dir"
      })
  void no_algorithm_and_unknown_ones_are_invalid(String algorithm) throws JOSEException {
    String header = "{\"alg\":\"" + algorithm + "\",\"typ\":\"JWT\"}";
    for (String signature :
        List.of("", "AA", "bm9uZQ", Tokens.hmac("256", SECRET, input(header)))) {
      assertInvalid(input(header) + "." + signature);
    }
    assertInvalid(input(header));
    assertInvalid(signed(header, "RS256", new RSASSASigner(rsa)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"HS256", "HS384", "HS512"})
  void public_key_in_any_encoding_is_no_secret(String algorithm) throws Exception {
    byte[] rsaDer = rsa.toRSAPublicKey().getEncoded();
    List<byte[]> encodings = new ArrayList<>();
    // PKCS #1: what is behind the 24 bytes of the algorithm's name
    for (byte[] der :
        List.of(
            rsaDer,
            p256.toECPublicKey().getEncoded(),
            Arrays.copyOfRange(rsaDer, 24, rsaDer.length))) {
      String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
      encodings.add(der);
      encodings.add(Base64.getEncoder().encode(der));
      for (String kind : List.of("PUBLIC KEY", "RSA PUBLIC KEY")) {
        String pem = "-----BEGIN " + kind + "-----\n" + lines + "\n-----END " + kind + "-----";
        encodings.add(pem.getBytes(UTF_8));
        encodings.add((pem + "\n").getBytes(UTF_8));
        encodings.add((pem + "\n").replace("\n", "\r\n").getBytes(UTF_8));
      }
    }
    encodings.add(rsa.toPublicJWK().toJSONString().getBytes(UTF_8));
    encodings.add(rsa.getModulus().decode());
    encodings.add(rsa.getModulus().toString().getBytes(UTF_8));
    encodings.add(p256.getX().decode());
    encodings.add("rsa".getBytes(UTF_8));
    encodings.add(new byte[1]);
    encodings.add(new byte[64]);
    for (byte[] key : encodings) {
      for (String kid : List.of("", ",\"kid\":\"rsa\"", ",\"kid\":\"p256\"")) {
        assertInvalid(Tokens.raw("{\"alg\":\"" + algorithm + "\"" + kid + "}", CLAIMS, key));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"RS256", "PS256", "ES256", "ES512", "HS256"})
  void algorithm_of_another_key_is_invalid(String algorithm) throws JOSEException {
    for (String kid : List.of("rsa", "p256", "p384", "p521")) {
      String header = "{\"alg\":\"" + algorithm + "\",\"kid\":\"" + kid + "\"}";
      assertInvalid(Tokens.raw(header, CLAIMS, "guess".getBytes(UTF_8)));
      assertInvalid(signed(header, "RS256", new RSASSASigner(rsaOfAttacker)));
    }
  }

  @ParameterizedTest
  @MethodSource("keysInTheToken")
  void key_that_the_token_brings_or_names_is_neither_used_nor_fetched(String members)
      throws JOSEException {
    int fetches = provider.fetches();
    assertInvalid(
        signed("{\"alg\":\"RS256\"," + members + "}", "RS256", new RSASSASigner(rsaOfAttacker)));
    assertInvalid(Tokens.raw("{\"alg\":\"HS256\"," + members + "}", CLAIMS, new byte[1]));

    assertEquals(0, attacker.fetches(), "fetches from the attacker");
    assertTrue(provider.fetches() - fetches <= 2, "fetches from the provider are bounded");
  }

  static Stream<String> keysInTheToken() {
    return """
    "jwk":ATTACKERS_KEY
    "kid":"rsa","jwk":ATTACKERS_KEY
    "jku":"ATTACKER"
    "kid":"rsa","jku":"ATTACKER"
    "kid":"rsa","jku":"PROVIDER@ATTACKER"
    "kid":"rsa","jku":"PROVIDER#ATTACKER"
    "x5u":"ATTACKER"
    "kid":"rsa","x5u":"ATTACKER"
    "kid":"rsa","x5c":["AAAA"]
    "kid":"ATTACKER"
    "iss":"ATTACKER"
    "kid":""
    "kid":"rsa"
    "kid":"p256"
    "kid":"../../../../../../dev/null"
    "kid":"file:///proc/sys/kernel/randomize_va_space"
    "kid":"x' UNION SELECT 'AA'; --"
    "kid":"| sleep 10"
    "kid":"${jndi:ldap://localhost/x}"
    "kid":"rsa\\u0000"
    """
        .lines()
        .map(members ->
            members
                .replace("ATTACKERS_KEY", rsaOfAttacker.toPublicJWK().toJSONString())
                .replace("ATTACKER", attacker.url())
                .replace("PROVIDER", provider.url()));
  }

  @ParameterizedTest
  @MethodSource("curves")
  void signature_out_of_the_curve_is_invalid(String algorithm, ECKey key) throws JOSEException {
    int length = ECDSA.getSignatureByteArrayLength(JWSAlgorithm.parse(algorithm));
    byte[] order = fixed(key.getCurve().toECParameterSpec().getOrder(), length / 2);
    byte[] zero = new byte[length / 2];
    byte[] one = fixed(BigInteger.ONE, length / 2);
    for (byte[] r : List.of(zero, one, order)) {
      for (byte[] s : List.of(zero, one, order)) {
        assertInvalid(token(header(algorithm, key), joined(r, s)));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("curves")
  void signature_of_another_form_is_invalid(String algorithm, ECKey key) throws JOSEException {
    String header = header(algorithm, key);
    byte[] valid =
        new ECDSASigner(key)
            .sign(new JWSHeader(JWSAlgorithm.parse(algorithm)), input(header).getBytes(UTF_8))
            .decode();
    assertValid(withProvider, token(header, valid));

    byte[] changed = valid.clone();
    changed[valid.length - 1] ^= 1;
    for (byte[] other :
        List.of(
            ECDSA.transcodeSignatureToDER(valid),
            Arrays.copyOf(valid, valid.length - 1),
            Arrays.copyOf(valid, valid.length + 1),
            Arrays.copyOfRange(valid, 1, valid.length),
            joined(new byte[1], valid),
            joined(valid, valid),
            new byte[1],
            changed)) {
      assertInvalid(token(header, other));
    }
  }

  static Stream<Arguments> curves() {
    return Stream.of(arguments("ES256", p256), arguments("ES384", p384), arguments("ES512", p521));
  }

  @Test
  void encrypted_token_is_invalid() throws JOSEException {
    JWEObject encrypted =
        new JWEObject(
            new JWEHeader.Builder(JWEAlgorithm.DIR, EncryptionMethod.A256GCM)
                .contentType("JWT")
                .build(),
            new Payload(Tokens.valid()));
    encrypted.encrypt(new DirectEncrypter(Arrays.copyOf(SECRET, 32)));
    assertInvalid(encrypted.serialize());
  }

  /** A half of them are signed again, so that it is not the signature alone that protects. */
  @Test
  void changed_tokens_are_answered_with_200_or_401() {
    Random random = new Random(15);
    int valid = 0;
    for (int number = 0; number < CHANGED_TOKENS; number++) {
      String header = changed("{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"rsa\"}", random);
      String payload = changed("{\"exp\":4102444800,\"nbf\":0,\"aud\":[\"plants\"]}", random);
      String token = Tokens.raw(header, payload, SECRET);
      if (random.nextBoolean()) {
        token = changed(token, random);
      }
      // Throws nothing: that would be answered with 500.
      valid += withSecret.validate(token, null).isPresent() ? 1 : 0;
      assertEquals(Optional.empty(), withProvider.validate(token, null), token);
    }
    assertTrue(valid > 100 && valid < CHANGED_TOKENS / 2, valid + " are valid");
  }

  private static String changed(String text, Random random) {
    List<String> pieces =
        List.of(
            "", "\"", "{", "}", "[", "]", ",", ":", ".", "null", "-", "e9", "9", "\\u0000",
            "\uD800", "é", "=", "crit", "b64", "none");
    StringBuilder changed = new StringBuilder(text);
    for (int change = random.nextInt(3); change > 0; change--) {
      int from = random.nextInt(changed.length() + 1);
      int to = Math.min(changed.length(), from + random.nextInt(random.nextInt(8) == 0 ? 40 : 3));
      changed.replace(from, to, pieces.get(random.nextInt(pieces.size())));
    }
    return changed.toString();
  }

  private static String header(String algorithm, ECKey key) {
    return "{\"alg\":\"" + algorithm + "\",\"kid\":\"" + key.getKeyID() + "\"}";
  }

  private static String input(String header) {
    return Base64URL.encode(header) + "." + Base64URL.encode(CLAIMS);
  }

  private static String signed(String header, String algorithm, JWSSigner signer)
      throws JOSEException {
    String named = header.formatted(algorithm);
    return token(
        named,
        signer
            .sign(new JWSHeader(JWSAlgorithm.parse(algorithm)), input(named).getBytes(UTF_8))
            .decode());
  }

  private static String token(String header, byte[] signature) {
    return input(header) + "." + Base64URL.encode(signature);
  }

  private static byte[] fixed(BigInteger number, int length) {
    byte[] bytes = number.toByteArray();
    byte[] last = Arrays.copyOfRange(bytes, Math.max(0, bytes.length - length), bytes.length);
    return joined(new byte[length - last.length], last);
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private static void assertValid(TokenValidation validation, String token) {
    assertTrue(validation.validate(token, null).isPresent(), token);
  }

  private static void assertInvalid(String token) {
    assertEquals(Optional.empty(), withProvider.validate(token, null), token);
    assertEquals(Optional.empty(), withSecret.validate(token, null), token);
  }
}
