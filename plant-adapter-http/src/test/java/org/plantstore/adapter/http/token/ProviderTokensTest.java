package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Tokens;

/** What callers see where the keys are those of an identity provider, up or down. */
class ProviderTokensTest {

  private static RSAKey known;
  private static RSAKey next;

  private IdentityProvider provider;
  private EmbeddedServer server;

  @BeforeAll
  static void generateKeys() throws JOSEException {
    known = new RSAKeyGenerator(2048).keyID("known").generate();
    next = new RSAKeyGenerator(2048).keyID("next").generate();
  }

  @BeforeEach
  void start() {
    provider = new IdentityProvider(known);
    server = ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.jwks-url", provider.url()));
  }

  @AfterEach
  void stop() {
    server.close();
    provider.close();
  }

  @Test
  void remembered_token_is_invalid_as_soon_as_its_key_is_known_to_be_withdrawn() {
    String remembered = token(known);
    assertValid(remembered);
    provider.publish(next);
    assertValid(remembered);
    assertEquals(1, provider.fetches(), "fetches of the key set");

    assertValid(token(next)); // has the keys fetched
    assertEquals(2, provider.fetches(), "fetches of the key set");
    assertInvalid(remembered);
  }

  @Test
  void remembered_token_passes_no_rule_that_refuses_its_caller() {
    Map<String, Object> rule = Map.of("pattern", "/plants", "access", List.of("ROLE_GARDENER"));
    try (EmbeddedServer restricted =
        ApplicationContext.run(
            EmbeddedServer.class,
            Map.of(
                "jwt.jwks-url",
                provider.url(),
                "micronaut.security.intercept-url-map",
                List.of(rule)))) {
      String token = token(known);
      for (int time = 0; time < 3; time++) {
        assertEquals(404, Answer.create(restricted.getURI(), token).status());
      }
    }
  }

  @Test
  void provider_that_is_down_keeps_known_keys_working() {
    assertValid(token(known));
    provider.goDown();

    assertUnavailable(token(next));
    assertValid(token(known));
    assertInvalid(tampered(token(known)));
  }

  @Test
  void documents_are_served_while_a_token_cannot_be_checked() {
    provider.drip();
    assertUnavailable(token(known));
    Answer answer =
        Answer.to(
            HttpRequest.newBuilder(server.getURI().resolve("/errors"))
                .header("Authorization", "Bearer " + token(known)));

    assertEquals(200, answer.status());
  }

  @Test
  void key_that_is_meant_for_something_else_is_not_used() {
    RSAKey encrypting =
        new RSAKey.Builder(next).keyID("encrypting").keyUse(KeyUse.ENCRYPTION).build();
    RSAKey ofAnotherAlgorithm =
        new RSAKey.Builder(next).keyID("ps").algorithm(JWSAlgorithm.PS256).build();
    provider.publish(encrypting, ofAnotherAlgorithm);

    assertInvalid(token(encrypting));
    assertInvalid(token(ofAnotherAlgorithm));
  }

  private static String token(RSAKey key) {
    try {
      return Tokens.signed(
          new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(),
          new RSASSASigner(key.toPrivateKey()),
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
    Answer.assertError(answer, 401, 4002, "The bearer token is not valid here; obtain a new one.");
  }

  private void assertUnavailable(String token) {
    Answer answer = Answer.create(server.getURI(), token);
    Answer.assertError(
        answer,
        503,
        5004,
        "The token cannot be checked now, because the identity provider does not answer; send the"
            + " same request again later.");
    assertEquals(Optional.of("1"), answer.header("Retry-After"));
  }
}
