package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;

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
