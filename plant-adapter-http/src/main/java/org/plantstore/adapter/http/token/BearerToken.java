package org.plantstore.adapter.http.token;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.annotation.Secured;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.token.reader.TokenReader;
import io.micronaut.web.router.RouteAttributes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the bearer token of a request: in the Authorization header alone (RFC 6750, section 2.1),
 * the scheme in any case (RFC 9110, section 11.1).
 */
@Singleton
public final class BearerToken implements TokenReader<HttpRequest<?>> {

  private static final String SCHEME = "Bearer ";

  /** Finds none where everybody may go: a token that cannot be checked must not be in the way. */
  @Override
  public Optional<String> findToken(HttpRequest<?> request) {
    String token = of(request);
    return token == null || isForEveryone(request) ? Optional.empty() : Optional.of(token);
  }

  /** Answers the bearer token with which the request tries to authenticate, or null if none. */
  public static @Nullable String of(HttpRequest<?> request) {
    List<String> credentials = request.getHeaders().getAll(HttpHeaders.AUTHORIZATION);
    if (credentials.size() != 1
        || !credentials.get(0).regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return null;
    }
    String token = credentials.get(0).substring(SCHEME.length()).strip();
    return token.isEmpty() ? null : token;
  }

  private static boolean isForEveryone(HttpRequest<?> request) {
    return RouteAttributes.getRouteInfo(request).stream()
        .flatMap(route -> Stream.of(route.getAnnotationMetadata().stringValues(Secured.class)))
        .anyMatch(SecurityRule.IS_ANONYMOUS::equals);
  }
}
