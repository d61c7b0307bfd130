package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.http.HttpRequest;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.RefusedException;
import reactor.core.publisher.Mono;

class TokenFilterTest {

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

  private static TokenFilter filter(List<SecurityRule<HttpRequest<?>>> rules) {
    Map<String, Object> settings = Map.of("jwt.secret", Tokens.SECRET);
    return new TokenFilter(
        rules,
        SettingsOfTokens.validation(settings),
        new TokenKeys(SettingsOfTokens.of(settings)),
        new ValidatedTokens(null),
        0);
  }
}
