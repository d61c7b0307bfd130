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
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Signs tokens by keys of this run, and publishes the public ones as an identity provider does.
 *
 * @param secret the secret of HS256
 * @param rsa the key of RS256
 * @param ec the key of ES256
 * @param server publishes the key set
 */
record Tokens(String secret, RSAKey rsa, ECKey ec, HttpServer server) implements AutoCloseable {

  private static final Duration VALIDITY = Duration.ofDays(1);
  private static final int SECRET_BYTES = 32;
  private static final int RSA_BITS = 2048;

  static Tokens generate() throws IOException {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    try {
      RSAKey rsa = new RSAKeyGenerator(RSA_BITS).keyID("rsa").generate();
      ECKey ec = new ECKeyGenerator(Curve.P_256).keyID("ec").generate();
      HttpServer server = publish(new JWKSet(List.of(rsa.toPublicJWK(), ec.toPublicJWK())));
      return new Tokens(HexFormat.of().formatHex(secret), rsa, ec, server);
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpServer publish(JWKSet keys) throws IOException {
    byte[] body = keys.toString(true).getBytes(UTF_8);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/keys",
        exchange -> {
          exchange.getResponseHeaders().add("Content-Type", "application/jwk-set+json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return server;
  }

  String keySetUrl() {
    return "http://localhost:" + server.getAddress().getPort() + "/keys";
  }

  /** Returns a token that is valid for longer than a run takes. */
  String sign(Algorithm algorithm) {
    try {
      return switch (algorithm) {
        case HS256 -> sign(JWSAlgorithm.HS256, null, new MACSigner(secret.getBytes(UTF_8)));
        case RS256 -> sign(JWSAlgorithm.RS256, rsa.getKeyID(), new RSASSASigner(rsa));
        case ES256 -> sign(JWSAlgorithm.ES256, ec.getKeyID(), new ECDSASigner(ec));
      };
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String sign(JWSAlgorithm algorithm, @Nullable String keyId, JWSSigner signer)
      throws JOSEException {
    JWTClaimsSet claims =
        new JWTClaimsSet.Builder()
            .subject("benchmark")
            .expirationTime(Date.from(Instant.now().plus(VALIDITY)))
            .build();
    SignedJWT token = new SignedJWT(new JWSHeader.Builder(algorithm).keyID(keyId).build(), claims);
    token.sign(signer);
    return token.serialize();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
