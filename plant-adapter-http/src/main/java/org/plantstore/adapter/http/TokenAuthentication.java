package org.plantstore.adapter.http;

import com.nimbusds.jwt.JWT;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.token.jwt.validator.DefaultJwtAuthenticationFactory;
import io.micronaut.security.token.jwt.validator.JwtAuthenticationFactory;
import jakarta.inject.Singleton;
import java.util.Optional;

/**
 * Makes one and the same caller of every valid token: a token needs no subject here, and its claims
 * are nobody's business any more.
 */
@Singleton
@Replaces(DefaultJwtAuthenticationFactory.class)
final class TokenAuthentication implements JwtAuthenticationFactory {

  private static final Authentication BEARER = Authentication.build("bearer");

  @Override
  public Optional<Authentication> createAuthentication(JWT token) {
    return Optional.of(BEARER);
  }
}
