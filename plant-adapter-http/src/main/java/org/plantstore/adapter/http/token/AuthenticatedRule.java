package org.plantstore.adapter.http.token;

import io.micronaut.core.annotation.Nullable;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import jakarta.inject.Singleton;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Has the last word on who may pass: everyone with a valid token, at every address, so that a wrong
 * address is answered as one; nobody else, unless an earlier rule opens the address.
 */
@Singleton
final class AuthenticatedRule implements SecurityRule<HttpRequest<?>> {

  @Override
  public Publisher<SecurityRuleResult> check(
      @Nullable HttpRequest<?> request, @Nullable Authentication authentication) {
    return Mono.just(
        authentication == null ? SecurityRuleResult.REJECTED : SecurityRuleResult.ALLOWED);
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }
}
