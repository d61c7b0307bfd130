package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.impl.HMAC;
import com.nimbusds.jose.util.Base64URL;
import javax.crypto.spec.SecretKeySpec;

/** Creates tokens, including malformed ones that no identity provider would issue. */
public final class Tokens {

  public static final String SECRET = "a secret of this test, 32 bytes or more";

  /** Claims that are valid until the year 2100. */
  public static final String CLAIMS = "{\"sub\":\"gardener\",\"exp\":4102444800}";

  private Tokens() {}

  public static String valid() {
    return raw("{\"alg\":\"HS256\"}", CLAIMS, SECRET.getBytes(UTF_8));
  }

  /** Returns a token with this header and payload, signed with the HMAC that the header names. */
  public static String raw(String header, String payload, byte[] secret) {
    String algorithm = header.contains("HS384") ? "384" : header.contains("HS512") ? "512" : "256";
    SecretKeySpec key = new SecretKeySpec(secret, "HmacSHA" + algorithm);
    String input = Base64URL.encode(header) + "." + Base64URL.encode(payload);
    byte[] text = input.getBytes(UTF_8);
    return input + "." + Base64URL.encode(assertDoesNotThrow(() -> HMAC.compute(key, text, null)));
  }

  /** Returns a token signed with this algorithm, even if the header names another one. */
  public static String signed(String header, String algorithm, JWSSigner signer)
      throws JOSEException {
    String input = Base64URL.encode(header) + "." + Base64URL.encode(CLAIMS);
    JWSHeader named = new JWSHeader(JWSAlgorithm.parse(algorithm));
    return input + "." + signer.sign(named, input.getBytes(UTF_8));
  }
}
