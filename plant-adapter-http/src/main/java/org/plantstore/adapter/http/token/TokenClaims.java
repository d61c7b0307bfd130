package org.plantstore.adapter.http.token;

import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import io.micronaut.context.env.Environment;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.token.Claims;
import io.micronaut.security.token.jwt.validator.GenericJwtClaimsValidator;
import io.micronaut.security.token.jwt.validator.JWTClaimsSetUtils;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Set;

/**
 * Checks a token's claims (RFC 7519, section 4.1): {@code exp} must be there and ahead, {@code nbf}
 * must be past, {@code iss} and {@code aud} must be the configured ones. Clocks may differ by 30 s.
 */
@Singleton
final class TokenClaims implements GenericJwtClaimsValidator<HttpRequest<?>> {

  private static final Duration CLOCK_SKEW = Duration.ofSeconds(30);

  private final DefaultJWTClaimsVerifier<SecurityContext> verifier;

  TokenClaims(Environment environment) {
    TokenSettings settings = TokenSettings.of(environment);
    JWTClaimsSet.Builder exact = new JWTClaimsSet.Builder();
    if (settings.issuer() != null) {
      exact.issuer(settings.issuer());
    }
    this.verifier =
        new DefaultJWTClaimsVerifier<>(settings.audience(), exact.build(), Set.of("exp"));
    verifier.setMaxClockSkew((int) CLOCK_SKEW.toSeconds());
  }

  @Override
  public boolean validate(Claims claims, @Nullable HttpRequest<?> request) {
    try {
      JWTClaimsSet token = JWTClaimsSetUtils.jwtClaimsSetFromClaims(claims);
      verifier.verify(token, null);
      // A null satisfies the verifier's demand for an expiration time.
      return token.getExpirationTime() != null;
    } catch (BadJWTException e) {
      return false;
    }
  }
}
