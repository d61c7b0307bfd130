package org.plantstore.adapter.http;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.token.reader.TokenReader;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;

/**
 * Finds the bearer token of a request: in the Authorization header alone (RFC 6750, section 2.1),
 * the scheme in any case (RFC 9110, section 11.1).
 */
@Singleton
final class BearerToken implements TokenReader<HttpRequest<?>> {

  private static final String SCHEME = "Bearer ";

  /** Is no token. Stands for several Authorization headers, of which none can be preferred. */
  private static final String AMBIGUOUS = "";

  @Override
  public Optional<String> findToken(HttpRequest<?> request) {
    return find(request);
  }

  /** Says whether the request tries to authenticate with a bearer token. */
  static boolean isIn(HttpRequest<?> request) {
    return find(request).isPresent();
  }

  private static Optional<String> find(HttpRequest<?> request) {
    List<String> credentials = request.getHeaders().getAll(HttpHeaders.AUTHORIZATION);
    if (credentials.size() > 1) {
      return Optional.of(AMBIGUOUS);
    }
    return credentials.stream()
        .filter(value -> value.regionMatches(true, 0, SCHEME, 0, SCHEME.length()))
        .map(value -> value.substring(SCHEME.length()).strip())
        .filter(token -> !token.isEmpty())
        .findFirst();
  }
}
