package org.plantstore.adapter.http.token;

import io.micronaut.http.HttpRequest;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.rules.SecuredAnnotationRule;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import jakarta.inject.Singleton;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Rejects otherwise valid tokens that lack a claim listed in JWT_REQUIRED_CLAIMS. Immutable. */
@Singleton
final class RequiredClaimsRule implements SecurityRule<HttpRequest<?>> {

  private static final Mono<SecurityRuleResult> UNKNOWN = Mono.just(SecurityRuleResult.UNKNOWN);

  private final List<RequiredClaim> claims;

  RequiredClaimsRule(TokenSettings settings) {
    claims = settings.requiredClaims();
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

  /** Throws an exception instead of returning REJECTED, so that the response names the claim. */
  @Override
  public Publisher<SecurityRuleResult> check(
      @Nullable HttpRequest<?> request, @Nullable Authentication caller) {
    if (caller != null) {
      require(caller);
    }
    return UNKNOWN;
  }

  /** Throws InvalidTokenException if the caller's token lacks a required claim. */
  void require(Authentication caller) {
    for (RequiredClaim claim : claims) {
      Object found = claim.find(caller.getAttributes());
      if (!claim.isMetBy(found)) {
        throw new InvalidTokenException(
            ErrorNumber.MISSING_CLAIM,
            "The bearer token must contain the claim "
                + claim
                + "; obtain a token with that claim.",
            claim.toString(),
            found);
      }
    }
  }
}
