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
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.DirectEncrypter;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.impl.ECDSA;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Tokens;

/**
 * Tokens of somebody who has no key of the service, and knows what libraries got wrong: all are
 * invalid, with a secret as well as with an identity provider, and nothing that they name is
 * fetched.
 */
class ForgedTokensTest {

  private static final String INVALID =
      "{\"error\":4002,\"message\":\"The bearer token is not valid here; obtain a new one.\"}";

  private static final String KEY_STORE_PASSWORD = "of the attacker";

  private static RSAKey rsa;
  private static RSAKey rsaOfAttacker;
  private static ECKey p256;
  private static ECKey p384;
  private static ECKey p521;
  private static IdentityProvider provider;
  private static IdentityProvider attacker;
  private static EmbeddedServer withProvider;
  private static EmbeddedServer withSecret;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    rsa = new RSAKeyGenerator(2048).keyID("rsa").generate();
    rsaOfAttacker = keyWithCertificate(folder.resolve("attacker.p12"), "rsa");
    p256 = new ECKeyGenerator(Curve.P_256).keyID("p256").generate();
    p384 = new ECKeyGenerator(Curve.P_384).keyID("p384").generate();
    p521 = new ECKeyGenerator(Curve.P_521).keyID("p521").generate();
    provider = new IdentityProvider(rsa, p256, p384, p521);
    attacker = new IdentityProvider(rsaOfAttacker);
    withProvider =
        ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.jwks-url", provider.url()));
    withSecret = ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.secret", Tokens.SECRET));
  }

  private static RSAKey keyWithCertificate(Path keyStore, String keyId) throws Exception {
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    Process process =
        new ProcessBuilder(
                keytool,
                "-genkeypair",
                "-alias",
                keyId,
                "-keyalg",
                "RSA",
                "-dname",
                "CN=" + keyId,
                "-keystore",
                keyStore.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                KEY_STORE_PASSWORD)
            .inheritIO()
            .start();
    assertEquals(0, process.waitFor());
    char[] password = KEY_STORE_PASSWORD.toCharArray();
    return RSAKey.load(KeyStore.getInstance(keyStore.toFile(), password), keyId, password);
  }

  @AfterAll
  static void stop() {
    withProvider.close();
    withSecret.close();
    provider.close();
    attacker.close();
  }

  @Test
  void tokens_of_this_test_are_valid_if_the_key_is() {
    assertEquals(200, status(withProvider, rsa("{\"alg\":\"RS256\"}", rsa)));
    assertEquals(200, status(withSecret, hmac("{\"alg\":\"HS256\"}", secret())));
    assertEquals(200, status(withProvider, signed("{\"alg\":\"ES256\"}", p256Signature())));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "none",
        "None",
        "NONE",
        "nOnE",
        " none",
        "none ",
        "",
        "null",
        "HS256\\u0000",
        "hs256",
        "rs256",
        "RS1",
        "HS1",
        "EdDSA",
        "ES256K",
        "RSA1_5",
        "dir"
      })
  void no_algorithm_and_unknown_ones_are_invalid(String algorithm) {
    String header = "{\"alg\":\"" + algorithm + "\",\"typ\":\"JWT\"}";
    for (String signature :
        List.of("", "AA", "bm9uZQ", base64Url(hmac("HmacSHA256", secret(), input(header))))) {
      assertInvalid(input(header) + "." + signature);
    }
    assertInvalid(input(header));
    assertInvalid(rsa(header, rsaOfAttacker));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"alg\":null}",
        "{\"alg\":7}",
        "{\"alg\":[\"HS256\"]}",
        "{\"typ\":\"JWT\"}",
        "{\"alg\":\"HS256\"",
        "{\"alg\":\"HS256\"}x",
        "{alg:HS256}",
        "{'alg':'HS256'}",
        "[\"HS256\"]",
        "\"HS256\"",
        "{\"alg\":\"none\",\"alg\":\"HS256\"}",
        "{\"alg\":\"HS256\",\"alg\":\"HS256\"}",
        "{\"\\u0061lg\":\"none\",\"alg\":\"HS256\"}",
        "{\"alg\":\"HS256\",\"kid\":\"a\",\"kid\":\"b\"}",
        "{\"alg\":\"HS256\",\"crit\":[\"exp\"],\"exp\":1}",
        "{\"alg\":\"HS256\",\"crit\":[\"unknown\"],\"unknown\":1}",
        "{\"alg\":\"HS256\",\"crit\":[]}",
        "{\"alg\":\"HS256\",\"crit\":\"b64\"}",
        "{\"alg\":\"HS256\",\"b64\":false,\"crit\":[\"b64\"]}",
        "{\"alg\":\"HS256\",\"enc\":\"A128GCM\",\"crit\":[\"enc\"]}",
        "{\"alg\":\"HS256\",\"typ\":\"JWE\"}",
        "{\"alg\":\"HS256\",\"typ\":7}",
        "{\"alg\":\"HS256\",\"kid\":7}",
        "{\"alg\":\"HS256\",\"jwk\":7}",
        "{\"alg\":\"HS256\",\"jwk\":{\"kty\":\"oct\",\"k\":\"AA\"}}",
        "{\"alg\":\"HS256\",\"x5c\":[7]}",
        "{\"alg\":\"HS256\",\"jku\":\"http://[\"}"
      })
  void odd_header_is_invalid_even_with_the_right_signature(String header) {
    assertInvalid(hmac(header, secret()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"HS256", "HS384", "HS512"})
  void public_key_in_any_encoding_is_no_secret(String algorithm) throws Exception {
    List<byte[]> encodings = new ArrayList<>();
    for (byte[] der :
        List.of(
            rsa.toRSAPublicKey().getEncoded(),
            p256.toECPublicKey().getEncoded(),
            // PKCS #1: what is behind the 24 bytes of the algorithm's name
            Arrays.copyOfRange(
                rsa.toRSAPublicKey().getEncoded(), 24, rsa.toRSAPublicKey().getEncoded().length))) {
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
        assertInvalid(hmac("{\"alg\":\"" + algorithm + "\"" + kid + "}", key));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"RS256", "PS256", "ES256", "ES512", "HS256"})
  void algorithm_of_another_key_is_invalid(String algorithm) {
    for (String kid : List.of("rsa", "p256", "p384", "p521")) {
      String header = "{\"alg\":\"" + algorithm + "\",\"kid\":\"" + kid + "\"}";
      assertInvalid(signed(header, hmac("HmacSHA256", "guess".getBytes(UTF_8), input(header))));
      assertInvalid(rsa(header, rsaOfAttacker));
    }
  }

  @ParameterizedTest
  @MethodSource("keysInTheToken")
  void key_that_the_token_brings_or_names_is_neither_used_nor_fetched(String members) {
    int fetches = provider.fetches();
    assertInvalid(rsa("{\"alg\":\"RS256\"," + members + "}", rsaOfAttacker));
    assertInvalid(hmac("{\"alg\":\"HS256\"," + members + "}", new byte[1]));

    assertEquals(0, attacker.fetches(), "fetches from the attacker");
    assertTrue(provider.fetches() - fetches <= 2, "fetches from the provider are bounded");
  }

  @Test
  void certificate_that_the_token_brings_is_ignored() {
    String header = "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"x5c\":[\"" + certificate() + "\"]}";
    assertEquals(200, status(withProvider, rsa(header, rsa)));
  }

  private static String certificate() {
    return rsaOfAttacker.getX509CertChain().get(0).toString();
  }

  static List<String> keysInTheToken() {
    String url = attacker.url();
    String certificate = certificate();
    return List.of(
        "\"jwk\":" + rsaOfAttacker.toPublicJWK(),
        "\"kid\":\"rsa\",\"jwk\":" + rsaOfAttacker.toPublicJWK(),
        "\"jku\":\"" + url + "\"",
        "\"kid\":\"rsa\",\"jku\":\"" + url + "\"",
        "\"kid\":\"rsa\",\"jku\":\"" + provider.url() + "@" + url + "\"",
        "\"kid\":\"rsa\",\"jku\":\"" + provider.url() + "#" + url + "\"",
        "\"x5u\":\"" + url + "\"",
        "\"kid\":\"rsa\",\"x5u\":\"" + url + "\"",
        "\"x5c\":[\"" + certificate + "\"]",
        "\"kid\":\"rsa\",\"x5c\":[\"" + certificate + "\"]",
        "\"x5t#S256\":\""
            + rsaOfAttacker.getX509CertSHA256Thumbprint()
            + "\",\"x5c\":[\""
            + certificate
            + "\"]",
        "\"kid\":\"" + url + "\"",
        "\"iss\":\"" + url + "\"",
        "\"kid\":\"\"",
        "\"kid\":\"rsa\"",
        "\"kid\":\"p256\"",
        "\"kid\":\"../../../../../../dev/null\"",
        "\"kid\":\"/proc/sys/kernel/randomize_va_space\"",
        "\"kid\":\"file:///dev/null\"",
        "\"kid\":\"x' UNION SELECT 'AA'; --\"",
        "\"kid\":\"rsa' OR '1'='1\"",
        "\"kid\":\"| sleep 10\"",
        "\"kid\":\"${jndi:ldap://localhost/x}\"",
        "\"kid\":\"rsa\\u0000\"",
        "\"kid\":\"" + "k".repeat(8_000) + "\"");
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
        assertInvalid(signed(header(algorithm, key), joined(r, s)));
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
    assertEquals(200, status(withProvider, signed(header, valid)));

    assertInvalid(signed(header, ECDSA.transcodeSignatureToDER(valid)));
    assertInvalid(signed(header, Arrays.copyOf(valid, valid.length - 1)));
    assertInvalid(signed(header, Arrays.copyOf(valid, valid.length + 1)));
    assertInvalid(signed(header, Arrays.copyOfRange(valid, 1, valid.length)));
    assertInvalid(signed(header, joined(new byte[1], valid)));
    assertInvalid(signed(header, joined(valid, valid)));
    assertInvalid(signed(header, new byte[1]));
    valid[valid.length - 1] ^= 1;
    assertInvalid(signed(header, valid));
  }

  static Stream<Arguments> curves() {
    return Stream.of(arguments("ES256", p256), arguments("ES384", p384), arguments("ES512", p521));
  }

  @Test
  void text_that_the_decoder_would_read_as_a_valid_token_is_invalid() {
    String valid = hmac("{\"alg\":\"HS256\"}", secret());
    String[] parts = valid.split("\\.", -1);
    assertEquals(200, status(withSecret, valid));

    for (char other : sameBits(parts[2])) {
      assertInvalid(
          parts[0] + "." + parts[1] + "." + parts[2].substring(0, parts[2].length() - 1) + other);
    }
    assertInvalid(valid + "=");
    assertInvalid(valid + "A");
    assertInvalid(valid + ".");
    assertInvalid(valid + ".AA");
    assertInvalid("." + valid);
    assertInvalid(parts[0] + ". " + parts[1] + "." + parts[2]);
    assertInvalid(
        parts[0] + "." + parts[1] + "." + parts[2].substring(0, 9) + " " + parts[2].substring(9));
    assertInvalid(
        parts[0] + "." + parts[1] + "." + parts[2].substring(0, 9) + "*" + parts[2].substring(9));
    assertInvalid("\"" + valid + "\"");
    assertInvalid(parts[0] + "." + parts[1] + "%2E" + parts[2]);
  }

  @Test
  void other_spelling_of_header_or_payload_is_invalid_even_if_it_is_signed() {
    // Of lengths that leave bits over: 1 and 2 bytes more than a multiple of 3.
    for (String header : List.of("{\"alg\":\"HS256\"}", "{\"alg\":\"HS256\" }")) {
      for (String payload : List.of(claims(), claims() + " ", claims() + "  ")) {
        String first = base64Url(header);
        String second = base64Url(payload);
        assertEquals(200, status(withSecret, hmacOf(first + "." + second)));
        assertInvalid(hmacOf(first + "=." + second));
        assertInvalid(hmacOf(first + "." + second + "="));
        for (char other : sameBits(second)) {
          assertInvalid(hmacOf(first + "." + second.substring(0, second.length() - 1) + other));
        }
        for (char other : sameBits(first)) {
          assertInvalid(hmacOf(first.substring(0, first.length() - 1) + other + "." + second));
        }
      }
    }
  }

  @Test
  void encrypted_and_nested_tokens_are_invalid() throws JOSEException {
    JWEObject encrypted =
        new JWEObject(
            new JWEHeader.Builder(JWEAlgorithm.DIR, EncryptionMethod.A256GCM)
                .contentType("JWT")
                .build(),
            new Payload(hmac("{\"alg\":\"HS256\"}", secret())));
    encrypted.encrypt(new DirectEncrypter(Arrays.copyOf(secret(), 32)));
    assertInvalid(encrypted.serialize());

    String nested = hmac("{\"alg\":\"HS256\"}", secret());
    assertInvalid(
        hmacOf(base64Url("{\"alg\":\"HS256\",\"cty\":\"JWT\"}") + "." + base64Url(nested)));
    assertInvalid(
        hmacOf(
            base64Url("{\"alg\":\"HS256\",\"cty\":\"JWT\"}")
                + "."
                + base64Url('"' + nested + '"')));
  }

  /** Only the payload of an encrypted token may be compressed (RFC 7516, section 4.1.3). */
  @Test
  void payload_is_never_unpacked() throws IOException {
    String header = "{\"alg\":\"HS256\",\"zip\":\"DEF\"}";
    assertEquals(200, status(withSecret, hmac(header, secret())));

    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (OutputStream deflater =
        new DeflaterOutputStream(packed, new Deflater(Deflater.BEST_COMPRESSION, true))) {
      deflater.write(claims().getBytes(UTF_8));
    }
    assertInvalid(hmacOf(base64Url(header) + "." + base64Url(packed.toByteArray())));
  }

  @Test
  void token_as_large_as_a_header_may_be_is_checked() {
    String large = "{\"alg\":\"HS256\",\"x\":\"" + "x".repeat(9_000) + "\"}";
    assertEquals(200, status(withSecret, hmac(large, secret())));
    assertInvalid(hmac(large, new byte[32]));
    assertInvalid("A".repeat(5_000) + "." + "A".repeat(5_000) + "." + "A".repeat(5_000));
    assertInvalid("x".repeat(15_000));
    assertInvalid("a.".repeat(7_000));
  }

  private static String header(String algorithm, ECKey key) {
    return "{\"alg\":\"" + algorithm + "\",\"kid\":\"" + key.getKeyID() + "\"}";
  }

  private static String claims() {
    return "{\"exp\":" + (Instant.now().getEpochSecond() / 1_000 + 10) * 1_000 + "}";
  }

  private static String input(String header) {
    return base64Url(header) + "." + base64Url(claims());
  }

  private static String rsa(String header, RSAKey key) {
    try {
      Signature signer = Signature.getInstance("SHA256withRSA");
      PrivateKey privateKey = key.toPrivateKey();
      signer.initSign(privateKey);
      signer.update(input(header).getBytes(UTF_8));
      return signed(header, signer.sign());
    } catch (GeneralSecurityException | JOSEException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static byte[] p256Signature() {
    try {
      return new ECDSASigner(p256)
          .sign(new JWSHeader(JWSAlgorithm.ES256), input("{\"alg\":\"ES256\"}").getBytes(UTF_8))
          .decode();
    } catch (JOSEException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** A token that is signed with the algorithm that its header names, HS256 if none. */
  private static String hmac(String header, byte[] key) {
    String algorithm =
        header.contains("HS384")
            ? "HmacSHA384"
            : header.contains("HS512") ? "HmacSHA512" : "HmacSHA256";
    return signed(header, hmac(algorithm, key, input(header)));
  }

  private static String hmacOf(String input) {
    return input + "." + base64Url(hmac("HmacSHA256", secret(), input));
  }

  private static byte[] hmac(String algorithm, byte[] key, String input) {
    try {
      Mac mac = Mac.getInstance(algorithm);
      mac.init(new SecretKeySpec(key, algorithm));
      return mac.doFinal(input.getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static String signed(String header, byte[] signature) {
    return input(header) + "." + base64Url(signature);
  }

  private static byte[] secret() {
    return Tokens.SECRET.getBytes(UTF_8);
  }

  private static String base64Url(String text) {
    return Base64URL.encode(text).toString();
  }

  private static String base64Url(byte[] bytes) {
    return Base64URL.encode(bytes).toString();
  }

  /** The other last characters that a lenient decoder reads as the one that is there. */
  private static List<Character> sameBits(String base64Url) {
    List<Character> same = new ArrayList<>();
    byte[] bytes = new Base64URL(base64Url).decode();
    for (char other :
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".toCharArray()) {
      String text = base64Url.substring(0, base64Url.length() - 1) + other;
      if (!text.equals(base64Url) && Arrays.equals(bytes, new Base64URL(text).decode())) {
        same.add(other);
      }
    }
    return same;
  }

  private static byte[] fixed(BigInteger number, int length) {
    byte[] bytes = new byte[length];
    byte[] unsigned = number.toByteArray();
    int from = Math.max(0, unsigned.length - length);
    System.arraycopy(
        unsigned, from, bytes, length - (unsigned.length - from), unsigned.length - from);
    return bytes;
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private static void assertInvalid(String token) {
    for (EmbeddedServer server : List.of(withProvider, withSecret)) {
      Answer answer = Answer.create(server.getURI(), token);
      assertEquals(INVALID, answer.body(), token);
      assertEquals(401, answer.status(), token);
    }
  }

  private static int status(EmbeddedServer server, String token) {
    return Answer.create(server.getURI(), token).status();
  }
}
