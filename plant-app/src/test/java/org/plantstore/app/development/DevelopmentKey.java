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

/** The signing key of this process, and tokens that are signed with it. */
public final class DevelopmentKey {

  /** The secret, which is generated when this class is loaded. */
  public static final String SECRET = new BigInteger(256, new SecureRandom()).toString(16);

  private DevelopmentKey() {}

  /** Returns a token for the subject {@code developer} that expires after this time. */
  public static String token(Duration validity) {
    return token(SECRET, "developer", validity);
  }

  /** Returns a token for this subject that is signed with this secret. */
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
