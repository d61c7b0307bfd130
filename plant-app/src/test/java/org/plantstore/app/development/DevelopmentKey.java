package org.plantstore.app.development;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;

/** The key of this process, and valid tokens. */
public final class DevelopmentKey {

  public static final String SECRET = new BigInteger(256, new SecureRandom()).toString(16);

  private DevelopmentKey() {}

  /** Returns a token that is valid from now on for the given time. */
  public static String token(Duration validity) {
    return token(SECRET, "developer", validity);
  }

  /** Returns a token of another secret and caller. */
  public static String token(String secret, String subject, Duration validity) {
    try {
      SignedJWT token =
          new SignedJWT(
              new JWSHeader(JWSAlgorithm.HS256),
              new JWTClaimsSet.Builder()
                  .subject(subject)
                  .expirationTime(Date.from(Instant.now().plus(validity)))
                  .build());
      token.sign(new MACSigner(secret.getBytes(UTF_8)));
      return token.serialize();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }
}
