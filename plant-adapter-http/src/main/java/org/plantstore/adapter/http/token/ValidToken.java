package org.plantstore.adapter.http.token;

import io.micronaut.security.authentication.Authentication;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The properties of a valid token that the cache and the security rules need. Immutable.
 *
 * @param caller the name of the caller, or an empty string if the token does not name the caller
 * @param claims the claims that {@link RequiredClaimsRule} examines. Other claims are omitted,
 *     because all claims together take several times as much memory as the text of the token.
 * @param expires the expiration time
 * @param keys the keys that were known when the token was validated
 */
record ValidToken(
    String caller, Map<String, Object> claims, Instant expires, TokenKeys.Snapshot keys)
    implements Authentication {

  /** The tolerated difference between an issuer's clock and this service's clock. */
  static final Duration CLOCK_SKEW = Duration.ofSeconds(30);

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
   * Returns the first of {@code sub}, {@code client_id} (RFC 9068, section 2.2), and {@code azp}
   * (OpenID Connect Core, section 2) that the token contains, or an empty string if it contains
   * none of them.
   */
  private static String caller(Map<?, ?> claims) {
    return Stream.of("sub", "client_id", "azp")
        .map(claims::get)
        .filter(name -> name instanceof String || name instanceof Number)
        .map(String::valueOf)
        .findFirst()
        .orElse("");
  }

  /** Returns whether a token with this expiration time is no longer accepted. */
  static boolean hasExpired(Instant expires) {
    return !Instant.now().isBefore(expires.plus(CLOCK_SKEW));
  }

  /** Returns whether this token can be used without being validated again. */
  boolean isUsable(TokenKeys.Snapshot currentKeys) {
    return keys.equals(currentKeys) && !hasExpired(expires);
  }

  @Override
  public String getName() {
    return caller;
  }

  @Override
  public Map<String, Object> getAttributes() {
    return claims;
  }

  /** Returns a constant, so that logging a token does not reveal its claims. */
  @Override
  public String toString() {
    return "a valid token";
  }
}
