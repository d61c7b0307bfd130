package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Makes tokens as an identity provider would. */
public final class Tokens {

  public static final String SECRET = "a secret of this test, 32 bytes or more";

  private Tokens() {}

  /** A token that is valid where SECRET is the key. */
  public static String valid() {
    return hmac(JWSAlgorithm.HS256, SECRET, claims().build());
  }

  public static JWTClaimsSet.Builder claims() {
    return new JWTClaimsSet.Builder().subject("gardener").expirationTime(in(Duration.ofHours(1)));
  }

  public static Date in(Duration time) {
    return Date.from(Instant.now().plus(time));
  }

  public static String hmac(JWSAlgorithm algorithm, String secret, JWTClaimsSet claims) {
    try {
      return signed(new JWSHeader(algorithm), new MACSigner(secret.getBytes(UTF_8)), claims);
    } catch (JOSEException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Returns a token with any header and payload, signed with the HMAC that the header names. */
  public static String raw(String header, String payload, byte[] secret) {
    String algorithm = header.contains("HS384") ? "384" : header.contains("HS512") ? "512" : "256";
    String input = Base64URL.encode(header) + "." + Base64URL.encode(payload);
    return input + "." + hmac(algorithm, secret, input);
  }

  /** Returns the HMAC of any text, in base64url. */
  public static String hmac(String bits, byte[] secret, String input) {
    try {
      Mac mac = Mac.getInstance("HmacSHA" + bits);
      mac.init(new SecretKeySpec(secret, "HMAC"));
      return Base64URL.encode(mac.doFinal(input.getBytes(UTF_8))).toString();
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException(e);
    }
  }

  public static String signed(JWSHeader header, JWSSigner signer, JWTClaimsSet claims) {
    try {
      SignedJWT token = new SignedJWT(header, claims);
      token.sign(signer);
      return token.serialize();
    } catch (JOSEException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
