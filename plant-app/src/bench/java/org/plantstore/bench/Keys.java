package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;
import java.util.List;

/** Keys that are made for one run, and tokens that are valid for it. */
final class Keys {

  private static final Duration VALIDITY = Duration.ofDays(1);
  private static final int SECRET_BYTES = 32;
  private static final int RSA_BITS = 2048;

  private final String secret;
  private final RSAKey rsa;
  private final ECKey ec;

  private Keys(String secret, RSAKey rsa, ECKey ec) {
    this.secret = secret;
    this.rsa = rsa;
    this.ec = ec;
  }

  static Keys generate() {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    try {
      return new Keys(
          HexFormat.of().formatHex(secret),
          new RSAKeyGenerator(RSA_BITS).keyID("rsa").generate(),
          new ECKeyGenerator(Curve.P_256).keyID("ec").generate());
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Answers the secret of HS256. */
  String secret() {
    return secret;
  }

  /** Answers the public keys of the others. */
  JWKSet publicKeys() {
    return new JWKSet(List.of(rsa.toPublicJWK(), ec.toPublicJWK()));
  }

  String hs256() {
    try {
      return token(new JWSHeader(JWSAlgorithm.HS256), new MACSigner(secret.getBytes(UTF_8)));
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  String rs256() {
    try {
      return token(
          new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(rsa.getKeyID()).build(),
          new RSASSASigner(rsa));
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  String es256() {
    try {
      return token(
          new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(ec.getKeyID()).build(),
          new ECDSASigner(ec));
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String token(JWSHeader header, JWSSigner signer) throws JOSEException {
    SignedJWT token =
        new SignedJWT(
            header,
            new JWTClaimsSet.Builder()
                .subject("benchmark")
                .expirationTime(Date.from(Instant.now().plus(VALIDITY)))
                .build());
    token.sign(signer);
    return token.serialize();
  }
}
