package org.plantstore.adapter.http.token;

import io.micronaut.security.authentication.Authentication;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the cache and the rules need to know of a valid token. Immutable.
 *
 * @param caller who sends the token; may be empty
 * @param claims those that {@link RequiredClaimsRule} examines; all claims of all cached tokens
 *     would take several times the memory of the tokens' text
 * @param keys the keys with which the token is valid
 */
record ValidToken(
    String caller, Map<String, Object> claims, Instant expires, TokenKeys.Snapshot keys)
    implements Authentication {

  static ValidToken of(SignedJwt token, List<RequiredClaim> examined, TokenKeys.Snapshot keys) {
    Map<String, Object> claims = new HashMap<>();
    for (RequiredClaim each : examined) {
      Object claim = each.find(token.claims());
      if (claim != null) {
        claims.put(each.name(), claim);
      }
    }
    return new ValidToken(caller(token.claims()), claims, token.expires(), keys);
  }

  /**
   * Returns {@code sub}, otherwise {@code client_id} (RFC 9068, section 2.2), otherwise {@code azp}
   * (OpenID Connect Core, section 2), otherwise an empty text.
   */
  private static String caller(Map<?, ?> claims) {
    return Stream.of("sub", "client_id", "azp")
        .map(claims::get)
        .filter(name -> name instanceof String || name instanceof Number)
        .map(String::valueOf)
        .findFirst()
        .orElse("");
  }

  @Override
  public String getName() {
    return caller;
  }

  @Override
  public Map<String, Object> getAttributes() {
    return claims;
  }

  /** Returns no claims, so that none can be logged. */
  @Override
  public String toString() {
    return "a valid token";
  }
}
