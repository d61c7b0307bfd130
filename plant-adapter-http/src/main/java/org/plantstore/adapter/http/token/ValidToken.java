package org.plantstore.adapter.http.token;

import com.nimbusds.jwt.JWTClaimsSet;
import java.time.Instant;
import java.util.stream.Stream;

/**
 * What is known of a valid token.
 *
 * @param caller who sends it: {@code sub}, otherwise {@code client_id} (RFC 9068, section 2.2),
 *     otherwise {@code azp} (OpenID Connect Core, section 2), otherwise empty
 */
record ValidToken(Instant expires, String caller) {

  static ValidToken of(JWTClaimsSet claims) {
    String caller =
        Stream.of("sub", "client_id", "azp")
            .map(claims::getClaim)
            .filter(String.class::isInstance)
            .map(String.class::cast)
            .findFirst()
            .orElse("");
    return new ValidToken(claims.getExpirationTime().toInstant(), caller);
  }
}
