package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.http.HttpRequest;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.RefusedException;
import reactor.core.publisher.Mono;

/** Tests the cache of valid tokens, and how a service's security rules affect requests. */
class TokenFilterTest {

  private final TokenSettings settings =
      SecretTokensTest.settings(Map.of("jwt.secret", Tokens.SECRET));
  private final TokenKeys keys = new TokenKeys(settings);
  private final ValidatedTokens tokens = new ValidatedTokens(keys, null);

  @Test
  void token_is_cached_until_it_is_no_longer_accepted() {
    tokens.add("valid", token(3_600));
    tokens.add("expired according to this clock", token(-1));
    tokens.add("expired", token(-30));

    assertNotNull(tokens.get("valid"));
    assertNotNull(tokens.get("expired according to this clock"));
    assertNull(tokens.get("expired"));
  }

  @Test
  void cached_tokens_occupy_a_limited_amount_of_memory() {
    List<String> largest =
        IntStream.range(0, 2_000).mapToObj(number -> number + "x".repeat(16_000)).toList();
    largest.forEach(text -> tokens.add(text, token(3_600)));

    long cached = largest.stream().filter(each -> tokens.get(each) != null).count();
    assertTrue(cached > 0 && cached <= 263, "cached: " + cached);
  }

  private ValidToken token(int seconds) {
    return new ValidToken("me", Map.of(), Instant.now().plusSeconds(seconds), keys.current());
  }

  @Test
  void cached_token_does_not_bypass_a_rule_that_refuses_its_caller() {
    Map<String, Object> rule = Map.of("pattern", "/plants", "access", List.of("ROLE_GARDENER"));
    Map<String, Object> settings =
        Map.of("jwt.secret", Tokens.SECRET, "micronaut.security.intercept-url-map", List.of(rule));
    try (EmbeddedServer restricted = ApplicationContext.run(EmbeddedServer.class, settings)) {
      for (int time = 0; time < 3; time++) {
        assertEquals(404, Answer.create(restricted.getURI(), Tokens.valid()).status());
      }
      ApplicationContext context = restricted.getApplicationContext();
      assertEquals(List.of(), List.copyOf(context.getBeansOfType(RequiredClaimsRule.class)));
    }
  }

  /** A rule that allows authenticated callers must not bypass the required claims. */
  @Test
  void valid_token_without_a_required_claim_gives_access_only_to_public_documents() {
    Map<String, Object> rule = Map.of("pattern", "/**", "access", List.of("isAuthenticated()"));
    Map<String, Object> settings =
        Map.of(
            "jwt.secret",
            Tokens.SECRET,
            "jwt.required-claims",
            "sub=gardener",
            "micronaut.security.intercept-url-map",
            List.of(rule));
    String claims = Tokens.CLAIMS.replace("gardener", "visitor");
    String visitor = Tokens.raw("{\"alg\":\"HS256\"}", claims, Tokens.SECRET.getBytes(UTF_8));
    String message =
        "The bearer token must contain the claim sub=gardener; obtain a token with that claim.";
    try (EmbeddedServer strict = ApplicationContext.run(EmbeddedServer.class, settings)) {
      for (int time = 0; time < 2; time++) {
        assertEquals(200, Answer.create(strict.getURI(), Tokens.valid()).status());
        for (String path : List.of("/plants", "/elsewhere")) {
          Answer answer = get(strict, path, visitor);
          Answer.assertError(answer, 403, 4006, message);
          assertEquals(
              Optional.of("Bearer realm=\"plants\", error=\"insufficient_scope\""),
              answer.header("WWW-Authenticate"));
        }
        assertEquals(200, get(strict, "/errors", visitor).status());
      }
    }
  }

  private static Answer get(EmbeddedServer server, String path, String token) {
    return Answer.to(
        java.net.http.HttpRequest.newBuilder(server.getURI().resolve(path))
            .header("Authorization", "Bearer " + token));
  }

  @Test
  void rule_without_an_immediate_decision_counts_as_a_rejection() {
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
    return new TokenFilter(rules, new TokenValidation(settings, keys), tokens, 0);
  }
}
