package org.plantstore.adapter.http.token;

import io.micronaut.http.HttpRequest;
import io.micronaut.security.authentication.WwwAuthenticateChallengeProvider;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;

/** The challenge of a 401 (RFC 6750, section 3): it names an error only if a token was sent. */
@Singleton
final class BearerChallenge implements WwwAuthenticateChallengeProvider<HttpRequest<?>> {

  @Override
  public String getWwwAuthenticateChallenge(@Nullable HttpRequest<?> request) {
    return request != null && BearerToken.of(request) != null
        ? "Bearer realm=\"plants\", error=\"invalid_token\""
        : "Bearer realm=\"plants\"";
  }
}
