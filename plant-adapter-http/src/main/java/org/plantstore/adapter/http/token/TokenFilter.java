package org.plantstore.adapter.http.token;

import io.micronaut.context.annotation.Property;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import io.micronaut.http.filter.ServerFilterPhase;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.RequestRecord;
import reactor.core.publisher.Mono;

/**
 * Applies the {@link SecurityRule}s to a request and its bearer token. This filter replaces {@code
 * SecurityFilter} of micronaut-security, because that filter is slower. In three runs with 64
 * connections, {@code SecurityFilter} increased the CPU time of a create by a factor of 1.25 to
 * 1.44 with a {@code TokenValidator}, and of 0.95 to 1.25 with a single {@code
 * AuthenticationFetcher}. {@code SecurityFilter} also validates tokens for public documents, so a
 * caller with a token could not read them while the identity provider is down. Safe for use by
 * multiple threads.
 */
@ServerFilter(Filter.MATCH_ALL_PATTERN)
final class TokenFilter implements Ordered {

  private final List<SecurityRule<HttpRequest<?>>> rules;
  private final TokenValidation validation;
  private final ValidatedTokens validatedTokens;
  private final int managementPort;

  TokenFilter(
      List<SecurityRule<HttpRequest<?>>> rules,
      TokenValidation validation,
      ValidatedTokens validatedTokens,
      @Property(name = "endpoints.all.port", defaultValue = "0") int managementPort) {
    this.rules = rules;
    this.validation = validation;
    this.validatedTokens = validatedTokens;
    this.managementPort = managementPort;
  }

  @Override
  public int getOrder() {
    return ServerFilterPhase.SECURITY.order();
  }

  /**
   * Completes with the request if it is allowed, otherwise with RefusedException. The result is the
   * request, because the framework does not await a {@code CompletionStage<Void>}.
   */
  @RequestFilter
  CompletionStage<HttpRequest<?>> requireToken(HttpRequest<?> request) {
    String text = AuthorizationHeader.token(request.getHeaders());
    ValidToken token = validatedTokens.get(text);
    if (request.getServerAddress().getPort() == managementPort) {
      requireAllowed(request, null);
    } else if (token != null) {
      admit(request, token);
    } else if (!isAllowed(request, null)) {
      if (text.isEmpty()) {
        throw AuthorizationHeader.refusal(request.getHeaders());
      }
      return validation
          .validate(text)
          .thenApply(valid -> {
            admit(request, valid);
            validatedTokens.add(text, valid);
            return request;
          });
    }
    return CompletableFuture.completedFuture(request);
  }

  private void admit(HttpRequest<?> request, ValidToken token) {
    RequestRecord.of(request).recordCaller(token.caller());
    requireAllowed(request, token);
  }

  /** Hides paths that are forbidden even with a valid token (RFC 9110, section 15.5.4). */
  private void requireAllowed(HttpRequest<?> request, @Nullable Authentication caller) {
    if (!isAllowed(request, caller)) {
      throw new RefusedException(ErrorNumber.NOT_FOUND);
    }
  }

  /**
   * Returns the decision of the first rule that decides. A rule that has no result immediately
   * counts as a rejection, because waiting for a result would block the event loop. If no rule
   * decides, a valid token is required and sufficient.
   */
  private boolean isAllowed(HttpRequest<?> request, @Nullable Authentication caller) {
    for (SecurityRule<HttpRequest<?>> rule : rules) {
      SecurityRuleResult result =
          Mono.from(rule.check(request, caller)).toFuture().getNow(SecurityRuleResult.REJECTED);
      if (result == SecurityRuleResult.ALLOWED || result == SecurityRuleResult.REJECTED) {
        return result == SecurityRuleResult.ALLOWED;
      }
    }
    return caller != null;
  }
}
