package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.opts.AllowWeakRSAKey;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.PlainJWT;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Tokens;

/** Which tokens are valid where the keys are those of an identity provider, up or down. */
class ProviderTokensTest {

  private static final String UNAVAILABLE =
      "{\"error\":5004,\"message\":\"The token cannot be checked now, because the identity provider"
          + " does not answer; send the same request again later.\"}";
  private static final String INVALID =
      "{\"error\":4002,\"message\":\"The bearer token is not valid here; obtain a new one.\"}";

  private static RSAKey rsa;
  private static RSAKey nextRsa;
  private static ECKey p256;
  private static ECKey p384;
  private static ECKey p521;

  private IdentityProvider provider;
  private EmbeddedServer server;

  @BeforeAll
  static void generateKeys() throws JOSEException {
    rsa = new RSAKeyGenerator(2048).keyID("rsa").generate();
    nextRsa = new RSAKeyGenerator(2048).keyID("next").generate();
    p256 = new ECKeyGenerator(Curve.P_256).keyID("p256").generate();
    p384 = new ECKeyGenerator(Curve.P_384).keyID("p384").generate();
    p521 = new ECKeyGenerator(Curve.P_521).keyID("p521").generate();
  }

  @BeforeEach
  void start() {
    provider = new IdentityProvider(rsa, p256, p384, p521);
    server = ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.jwks-url", provider.url()));
  }

  @AfterEach
  void stop() {
    server.close();
    provider.close();
  }

  @Test
  void every_algorithm_of_the_published_keys_is_valid() {
    for (JWSAlgorithm algorithm :
        List.of(
            JWSAlgorithm.RS256,
            JWSAlgorithm.RS384,
            JWSAlgorithm.RS512,
            JWSAlgorithm.PS256,
            JWSAlgorithm.PS384,
            JWSAlgorithm.PS512)) {
      assertValid(token(algorithm, rsa));
    }
    assertValid(token(JWSAlgorithm.ES256, p256));
    assertValid(token(JWSAlgorithm.ES384, p384));
    assertValid(token(JWSAlgorithm.ES512, p521));
    assertEquals(1, provider.fetches(), "fetches of the key set");
  }

  @Test
  void remembered_token_is_invalid_as_soon_as_its_key_is_known_to_be_withdrawn() {
    String remembered = token(JWSAlgorithm.RS256, rsa);
    assertValid(remembered);
    provider.publish(nextRsa);
    assertValid(remembered);

    assertValid(token(JWSAlgorithm.RS256, nextRsa)); // has the keys fetched
    assertInvalid(remembered);
  }

  @Test
  void remembered_token_passes_no_rule_that_refuses_its_caller() {
    try (EmbeddedServer restricted =
        ApplicationContext.run(
            EmbeddedServer.class,
            Map.of(
                "jwt.jwks-url",
                provider.url(),
                "micronaut.security.intercept-url-map",
                List.of(Map.of("pattern", "/plants", "access", List.of("ROLE_GARDENER")))))) {
      String token = token(JWSAlgorithm.RS256, rsa);
      for (int time = 0; time < 3; time++) {
        assertNotEquals(200, Answer.create(restricted.getURI(), token).status());
      }
    }
  }

  @Test
  void token_without_a_key_id_is_valid_with_any_published_key() throws JOSEException {
    assertValid(
        Tokens.signed(
            new JWSHeader(JWSAlgorithm.RS256), new RSASSASigner(rsa), Tokens.claims().build()));
  }

  @Test
  void unsigned_token_is_invalid() {
    assertInvalid(new PlainJWT(Tokens.claims().build()).serialize());
  }

  @Test
  void public_key_is_no_secret() throws JOSEException {
    byte[] published = rsa.toRSAPublicKey().getEncoded();
    for (byte[] secret :
        List.of(published, rsa.toPublicJWK().toJSONString().getBytes(UTF_8), new byte[32])) {
      assertInvalid(
          Tokens.signed(
              new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("rsa").build(),
              new MACSigner(secret),
              Tokens.claims().build()));
    }
  }

  @Test
  void signature_of_a_key_in_the_token_is_invalid() throws JOSEException {
    JWSHeader header =
        new JWSHeader.Builder(JWSAlgorithm.RS256)
            .jwk(nextRsa.toPublicJWK())
            .jwkURL(URI.create(provider.url()))
            .build();
    assertInvalid(Tokens.signed(header, new RSASSASigner(nextRsa), Tokens.claims().build()));
  }

  @Test
  void key_that_is_published_later_is_found() {
    assertValid(token(JWSAlgorithm.RS256, rsa));
    provider.publish(rsa, nextRsa);

    assertValid(token(JWSAlgorithm.RS256, nextRsa));
    assertEquals(2, provider.fetches(), "fetches of the key set");
  }

  @Test
  void unknown_keys_do_not_make_more_fetches_than_the_rate_limit() {
    assertValid(token(JWSAlgorithm.RS256, rsa));
    for (int attempt = 0; attempt < 20; attempt++) {
      assertInvalid(
          token(
              JWSAlgorithm.RS256,
              new RSAKey.Builder(nextRsa).keyID(UUID.randomUUID().toString()).build()));
    }
    assertEquals(2, provider.fetches(), "fetches of the key set");
  }

  @Test
  void provider_that_is_down_keeps_known_keys_working() {
    assertValid(token(JWSAlgorithm.RS256, rsa));
    provider.goDown();

    assertUnavailable(token(JWSAlgorithm.RS256, nextRsa));
    assertValid(token(JWSAlgorithm.RS256, rsa));
    assertValid(token(JWSAlgorithm.ES256, p256));
    assertInvalid(tampered(token(JWSAlgorithm.RS256, rsa)));
  }

  @Test
  void provider_that_is_down_from_the_start_asks_to_retry() {
    provider.goDown();

    assertUnavailable(token(JWSAlgorithm.RS256, rsa));
  }

  @ParameterizedTest
  @MethodSource("lies")
  void key_set_that_is_broken_or_too_large_is_a_provider_that_is_down(String lie) {
    assertValid(token(JWSAlgorithm.RS256, rsa));
    int fetches = provider.fetches();
    provider.publish(lie);

    assertUnavailable(token(JWSAlgorithm.RS256, nextRsa));
    assertTrue(provider.fetches() > fetches, "the lie was fetched");
    assertValid(token(JWSAlgorithm.RS256, rsa));
  }

  static List<String> lies() {
    return List.of(
        "",
        "<html>",
        "[]",
        "{}",
        "{\"keys\":[" + nextRsa.toPublicJWK() + " ".repeat(300_000) + "]}");
  }

  @Test
  void documents_are_served_while_a_token_cannot_be_checked() {
    provider.drip();
    assertUnavailable(token(JWSAlgorithm.RS256, rsa));
    Answer answer =
        Answer.to(
            HttpRequest.newBuilder(server.getURI().resolve("/errors"))
                .header("Authorization", "Bearer " + token(JWSAlgorithm.RS256, rsa)));

    assertEquals(200, answer.status());
  }

  @Test
  void key_that_cannot_be_read_spoils_no_other() {
    provider.publish(
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"bad\",\"e\":\"AQAB\"},{\"kty\":\"new\"},"
            + rsa.toPublicJWK()
            + "]}");

    assertValid(token(JWSAlgorithm.RS256, rsa));
  }

  @Test
  void key_that_must_not_sign_tokens_is_not_used() throws JOSEException {
    RSAKey shortKey = new RSAKeyGenerator(1024, true).keyID("short").generate();
    RSAKey encryptionKey = new RSAKey.Builder(nextRsa).keyUse(KeyUse.ENCRYPTION).build();
    RSAKey signingKey =
        new RSAKey.Builder(nextRsa).keyID("sign").keyOperations(Set.of(KeyOperation.SIGN)).build();
    RSAKey keyOfAnotherAlgorithm =
        new RSAKey.Builder(nextRsa).keyID("ps").algorithm(JWSAlgorithm.PS256).build();
    provider.publish(shortKey, encryptionKey, signingKey, keyOfAnotherAlgorithm);

    for (RSAKey key : List.of(shortKey, encryptionKey, signingKey, keyOfAnotherAlgorithm)) {
      assertInvalid(
          Tokens.signed(
              new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(),
              new RSASSASigner(key.toPrivateKey(), Set.of(AllowWeakRSAKey.getInstance())),
              Tokens.claims().build()));
    }
  }

  private static String token(JWSAlgorithm algorithm, JWK key) {
    try {
      JWSSigner signer =
          key instanceof RSAKey rsaKey ? new RSASSASigner(rsaKey) : new ECDSASigner((ECKey) key);
      return Tokens.signed(
          new JWSHeader.Builder(algorithm).keyID(key.getKeyID()).build(),
          signer,
          Tokens.claims().build());
    } catch (JOSEException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static String tampered(String token) {
    int middle = token.lastIndexOf('.') + 20;
    char other = token.charAt(middle) == 'A' ? 'B' : 'A';
    return token.substring(0, middle) + other + token.substring(middle + 1);
  }

  private void assertValid(String token) {
    assertEquals(200, Answer.create(server.getURI(), token).status());
  }

  private void assertInvalid(String token) {
    Answer answer = Answer.create(server.getURI(), token);
    assertEquals(INVALID, answer.body());
    assertEquals(401, answer.status());
    assertEquals(
        Optional.of("Bearer realm=\"plants\", error=\"invalid_token\""),
        answer.header("WWW-Authenticate"));
  }

  private void assertUnavailable(String token) {
    Answer answer = Answer.create(server.getURI(), token);
    assertEquals(UNAVAILABLE, answer.body());
    assertEquals(503, answer.status());
    assertEquals(Optional.of("1"), answer.header("Retry-After"));
  }
}
