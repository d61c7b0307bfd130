package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.JWKSet;
import io.micronaut.context.ApplicationContext;
import io.micronaut.http.HttpRequest;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.RefusedException;
import reactor.core.publisher.Mono;

/** Which tokens are remembered, and what the rules of a service do to requests with and without. */
class TokenFilterTest {

  private static final TokenKeys.Snapshot KEYS =
      new TokenKeys.Snapshot(SecretKeys.of(Tokens.SECRET), new JWKSet());

  private final ValidatedTokens tokens = new ValidatedTokens(null);

  @Test
  void token_is_remembered_until_it_expires() {
    tokens.add("token", "me", Instant.now().plusSeconds(3_600), KEYS);
    tokens.add("expired", "me", Instant.now().minusSeconds(1), KEYS);

    assertEquals("me", tokens.callerOf("token", KEYS));
    assertNull(tokens.callerOf("expired", KEYS));
  }

  @Test
  void tokens_take_a_bounded_space() {
    List<String> largest =
        IntStream.range(0, 2_000).mapToObj(number -> number + "x".repeat(16_000)).toList();
    largest.forEach(token -> tokens.add(token, "me", Instant.now().plusSeconds(3_600), KEYS));

    long remembered = largest.stream().filter(each -> tokens.callerOf(each, KEYS) != null).count();
    assertTrue(remembered > 0 && remembered <= 263, "remembered: " + remembered);
  }

  @Test
  void remembered_token_passes_no_rule_that_refuses_its_caller() {
    Map<String, Object> rule = Map.of("pattern", "/plants", "access", List.of("ROLE_GARDENER"));
    Map<String, Object> settings =
        Map.of("jwt.secret", Tokens.SECRET, "micronaut.security.intercept-url-map", List.of(rule));
    try (EmbeddedServer restricted = ApplicationContext.run(EmbeddedServer.class, settings)) {
      for (int time = 0; time < 3; time++) {
        assertEquals(404, Answer.create(restricted.getURI(), Tokens.valid()).status());
      }
    }
  }

  @Test
  void rule_that_does_not_decide_at_once_rejects() {
    SecurityRule<HttpRequest<?>> undecided = (any, caller) -> Mono.just(SecurityRuleResult.UNKNOWN);
    SecurityRule<HttpRequest<?>> late = (any, caller) -> Mono.never();
    SecurityRule<HttpRequest<?>> allows = (any, caller) -> Mono.just(SecurityRuleResult.ALLOWED);
    HttpRequest<?> request = HttpRequest.GET("/");

    assertThrows(
        RefusedException.class,
        () -> filter(List.of(undecided, late, allows)).requireToken(request));
    assertSame(
        request,
        filter(List.of(undecided, allows, late))
            .requireToken(request)
            .toCompletableFuture()
            .join());
  }

  private TokenFilter filter(List<SecurityRule<HttpRequest<?>>> rules) {
    TokenSettings settings = SecretTokensTest.settings(Map.of("jwt.secret", Tokens.SECRET));
    TokenKeys keys = new TokenKeys(settings);
    return new TokenFilter(rules, new TokenValidation(settings, keys), keys, tokens, 0);
  }
}
