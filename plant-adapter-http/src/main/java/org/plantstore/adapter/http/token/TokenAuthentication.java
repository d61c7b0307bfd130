package org.plantstore.adapter.http.token;

import com.nimbusds.jwt.JWT;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.token.jwt.validator.DefaultJwtAuthenticationFactory;
import io.micronaut.security.token.jwt.validator.JwtAuthenticationFactory;
import jakarta.inject.Singleton;
import java.text.ParseException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Makes every valid token stand for the same caller: a token needs no subject here, and of its
 * claims only the expiration time still matters.
 */
@Singleton
@Replaces(DefaultJwtAuthenticationFactory.class)
final class TokenAuthentication implements JwtAuthenticationFactory {

  /** The attribute that says when the token expires, an {@link Instant}. */
  static final String EXPIRES = "expires";

  private static final String BEARER = "bearer";

  /** Answers the caller of a token that expires then. */
  static Authentication bearer(Instant expires) {
    return Authentication.build(BEARER, Map.of(EXPIRES, expires));
  }

  @Override
  public Optional<Authentication> createAuthentication(JWT token) {
    try {
      return Optional.of(bearer(token.getJWTClaimsSet().getExpirationTime().toInstant()));
    } catch (ParseException e) {
      throw new IllegalArgumentException("the claims were parsed before", e);
    }
  }
}
