package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.http.token.SecretTokensTest.isValid;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.util.Base64URL;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.Tokens;

/** Tokens of Ed25519 keys (RFC 8037, RFC 9864), which the JDK signs here too. */
@Tag("newest")
class Ed25519Test {

  /** The order of the group (RFC 8032, section 5.1). */
  private static final BigInteger ORDER =
      BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));

  private final KeyPair key = generate();

  @Test
  void token_is_valid_under_both_names_and_only_with_the_published_key() throws Exception {
    for (JWSAlgorithm declared : Arrays.asList(null, JWSAlgorithm.EdDSA, JWSAlgorithm.Ed25519)) {
      try (IdentityProvider provider = new IdentityProvider(published(declared))) {
        TokenValidation validation =
            new TokenValidation(
                SettingsOfTokens.of(
                    Map.of("jwt.jwks-url", provider.url(), "jwt.secret", Tokens.SECRET)));
        for (String algorithm : List.of("EdDSA", "Ed25519")) {
          String token = token(algorithm, key);
          validation.searchKey(token, ForkJoinPool.commonPool()).join();
          assertEquals(true, isValid(validation, token));
          assertEquals(false, isValid(validation, token(algorithm, generate())));
          requireEverySignatureButOneInvalid(validation, token);
        }
        for (String algorithm : List.of("Ed448", "ES256", "RS256", "HS256", "eddsa")) {
          assertEquals(false, isValid(validation, token(algorithm, key)));
        }
      }
    }
  }

  private static void requireEverySignatureButOneInvalid(TokenValidation validation, String token) {
    String input = token.substring(0, token.lastIndexOf('.'));
    byte[] valid = new Base64URL(token.substring(input.length() + 1)).decode();
    byte[] malleated = valid.clone(); // the same scalar modulo the order, in little endian
    BigInteger scalar = BigInteger.ZERO;
    for (int place = 63; place >= 32; place--) {
      scalar = scalar.shiftLeft(8).or(BigInteger.valueOf(valid[place] & 0xff));
    }
    scalar = scalar.add(ORDER);
    for (int place = 32; place < 64; place++) {
      malleated[place] = scalar.shiftRight(8 * (place - 32)).byteValue();
    }
    byte[] flipped = valid.clone();
    flipped[7] ^= 1;
    for (byte[] signature :
        List.of(
            malleated,
            flipped,
            new byte[64],
            new byte[0],
            Arrays.copyOf(valid, 63),
            Arrays.copyOf(valid, 65))) {
      assertEquals(false, isValid(validation, input + "." + Base64URL.encode(signature)));
    }
  }

  private OctetKeyPair published(@Nullable JWSAlgorithm declared) {
    byte[] encoded = key.getPublic().getEncoded();
    byte[] raw = Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
    return new OctetKeyPair.Builder(Curve.Ed25519, Base64URL.encode(raw))
        .algorithm(declared)
        .keyID("key")
        .build();
  }

  private static String token(String algorithm, KeyPair key) throws Exception {
    String header = "{\"alg\":\"" + algorithm + "\",\"kid\":\"key\"}";
    String input = Base64URL.encode(header) + "." + Base64URL.encode(Tokens.CLAIMS);
    Signature signature = Signature.getInstance("Ed25519");
    signature.initSign(key.getPrivate());
    signature.update(input.getBytes(US_ASCII));
    return input + "." + Base64URL.encode(signature.sign());
  }

  private static KeyPair generate() {
    return assertDoesNotThrow(() -> KeyPairGenerator.getInstance("Ed25519").generateKeyPair());
  }
}
