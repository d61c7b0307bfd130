package org.plantstore.adapter.http.token;

import io.micronaut.context.exceptions.DisabledBeanException;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.rules.SecuredAnnotationRule;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import jakarta.inject.Singleton;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Rejects otherwise valid tokens that lack a claim listed in JWT_REQUIRED_CLAIMS. The constructor
 * disables this bean if JWT_REQUIRED_CLAIMS is not set. The annotation {@code @Requires} is not
 * used, because it might overlook a source of settings that {@link TokenSettings} reads. Immutable.
 */
@Singleton
final class RequiredClaimsRule implements SecurityRule<HttpRequest<?>> {

  private static final Mono<SecurityRuleResult> UNKNOWN = Mono.just(SecurityRuleResult.UNKNOWN);

  private final List<RequiredClaim> claims;

  RequiredClaimsRule(TokenSettings settings) {
    claims = settings.requiredClaims();
    if (claims.isEmpty()) {
      throw new DisabledBeanException("JWT_REQUIRED_CLAIMS is not set");
    }
  }

  /**
   * Returns an order that places this rule before the rules for {@code @Secured} and {@code
   * intercept-url-map}, because {@code isAuthenticated()} in those rules would allow tokens without
   * the required claims.
   */
  @Override
  public int getOrder() {
    return SecuredAnnotationRule.ORDER - 1;
  }

  /**
   * Throws an exception instead of returning REJECTED, so that the response names the missing
   * claim.
   */
  @Override
  public Publisher<SecurityRuleResult> check(
      @Nullable HttpRequest<?> request, @Nullable Authentication caller) {
    if (caller != null) {
      claims.forEach(claim -> claim.require(caller.getAttributes()));
    }
    return UNKNOWN;
  }
}
