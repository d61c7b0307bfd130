package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.micronaut.http.HttpRequest;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.Tokens;
import reactor.core.publisher.Mono;

class TokenFilterTest {

  @Test
  void rule_that_decides_later_holds_no_thread() {
    CompletableFuture<SecurityRuleResult> decision = new CompletableFuture<>();
    SecurityRule<HttpRequest<?>> undecided = (any, caller) -> Mono.just(SecurityRuleResult.UNKNOWN);
    SecurityRule<HttpRequest<?>> late = (any, caller) -> Mono.fromFuture(decision);
    Map<String, Object> settings = Map.of("jwt.secret", Tokens.SECRET);
    TokenFilter filter =
        new TokenFilter(
            List.of(undecided, late),
            SettingsOfTokens.validation(settings),
            new TokenKeys(SettingsOfTokens.of(settings)),
            new ValidatedTokens(() -> 0),
            0);
    HttpRequest<?> request = HttpRequest.GET("/");

    CompletionStage<HttpRequest<?>> allowed = filter.requireToken(request);

    assertFalse(allowed.toCompletableFuture().isDone());
    decision.complete(SecurityRuleResult.ALLOWED);
    assertSame(request, allowed.toCompletableFuture().join());
  }
}
