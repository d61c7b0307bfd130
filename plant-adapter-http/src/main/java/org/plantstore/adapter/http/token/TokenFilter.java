package org.plantstore.adapter.http.token;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.filter.ConditionalFilter;
import io.micronaut.http.filter.ServerFilterChain;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.config.SecurityConfiguration;
import io.micronaut.security.filters.AuthenticationFetcher;
import io.micronaut.security.filters.SecurityFilter;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * The framework's filter, which a request with a token that was found valid a moment ago does not
 * need if the rules let it pass at once. Nothing is decided here: whatever is not allowed without
 * further ado goes the framework's way.
 */
@Filter(Filter.MATCH_ALL_PATTERN)
@Replaces(SecurityFilter.class)
final class TokenFilter extends SecurityFilter implements ConditionalFilter {

  private static final String KEYS = "org.plantstore.keys";

  private final ValidatedTokens validatedTokens;
  private final TokenSignature signature;

  TokenFilter(
      Collection<SecurityRule<HttpRequest<?>>> securityRules,
      Collection<AuthenticationFetcher<HttpRequest<?>>> authenticationFetchers,
      SecurityConfiguration securityConfiguration,
      ValidatedTokens validatedTokens,
      TokenSignature signature) {
    super(securityRules, authenticationFetchers, securityConfiguration);
    this.validatedTokens = validatedTokens;
    this.signature = signature;
  }

  @Override
  public boolean isEnabled(HttpRequest<?> request) {
    String token = BearerToken.of(request);
    Authentication caller = token == null ? null : validatedTokens.find(token, signature.keys());
    if (caller == null || !isAllowed(request, caller)) {
      return true;
    }
    request.setAttribute(KEY, true);
    request.setAttribute(AUTHENTICATION, caller);
    return false;
  }

  private boolean isAllowed(HttpRequest<?> request, Authentication caller) {
    for (SecurityRule<HttpRequest<?>> rule : securityRules) {
      CompletableFuture<SecurityRuleResult> result =
          Mono.from(rule.check(request, caller))
              .defaultIfEmpty(SecurityRuleResult.UNKNOWN)
              .toFuture();
      if (!result.isDone() || result.isCompletedExceptionally()) {
        return false;
      }
      if (result.join() != SecurityRuleResult.UNKNOWN) {
        return result.join() == SecurityRuleResult.ALLOWED;
      }
    }
    return false;
  }

  /** The keys are looked up before the check begins: they may change while it goes on. */
  @Override
  public Publisher<MutableHttpResponse<?>> doFilter(
      HttpRequest<?> request, ServerFilterChain chain) {
    request.setAttribute(KEYS, signature.keys());
    return super.doFilter(request, chain);
  }

  @Override
  protected Publisher<MutableHttpResponse<?>> checkRules(
      HttpRequest<?> request, ServerFilterChain chain, @Nullable Authentication authentication) {
    Object token = request.getAttribute(TOKEN).orElse(null);
    Object keys = request.getAttribute(KEYS).orElse(null);
    if (authentication != null && token != null && keys != null) {
      validatedTokens.add(token.toString(), authentication, keys);
    }
    return super.checkRules(request, chain, authentication);
  }
}
