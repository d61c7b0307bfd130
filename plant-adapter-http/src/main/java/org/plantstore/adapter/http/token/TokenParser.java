package org.plantstore.adapter.http.token;

import com.nimbusds.jwt.JWT;
import com.nimbusds.jwt.JWTClaimNames;
import com.nimbusds.jwt.SignedJWT;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.security.token.Claims;
import io.micronaut.security.token.jwt.generator.claims.JwtClaimsSetAdapter;
import io.micronaut.security.token.jwt.validator.JsonWebTokenParser;
import jakarta.inject.Singleton;
import java.text.ParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads tokens in the compact form of signed ones (RFC 7515, section 7.1), and no others: none that
 * are encrypted or unsigned. The library's decoder is lenient, and its dates overflow.
 */
@Singleton
@Replaces(JsonWebTokenParser.class)
final class TokenParser implements JsonWebTokenParser<JWT> {

  /** The bits that the last character has too many are 0 (RFC 4648, section 3.5). */
  private static final String BASE64URL =
      "(?:[A-Za-z0-9_-]{4})*+(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?";

  private static final Pattern SIGNED_TOKEN =
      Pattern.compile(BASE64URL + "\\." + BASE64URL + "\\." + BASE64URL);

  private static final List<String> DATES =
      List.of(JWTClaimNames.EXPIRATION_TIME, JWTClaimNames.NOT_BEFORE, JWTClaimNames.ISSUED_AT);

  /** In seconds, far beyond any use; in milliseconds this still fits a {@code long}. */
  private static final double MAX_DATE = 1e15;

  @Override
  public Optional<JWT> parse(String token) {
    try {
      if (SIGNED_TOKEN.matcher(token).matches()) {
        SignedJWT parsed = SignedJWT.parse(token);
        // Of the extensions that a token may demand to be understood, none is.
        if (parsed.getHeader().getCriticalParams() == null
            && hasUsableDates(parsed.getPayload().toJSONObject())) {
          return Optional.of(parsed);
        }
      }
    } catch (ParseException | IllegalArgumentException e) {
      // its sender is told that the token is not valid
    }
    return Optional.empty();
  }

  @Override
  public Optional<Claims> parseClaims(String token) {
    return parse(token).map(TokenParser::claimsOf);
  }

  private static Claims claimsOf(JWT token) {
    try {
      return new JwtClaimsSetAdapter(token.getJWTClaimsSet());
    } catch (ParseException e) {
      throw new IllegalArgumentException("the claims of a token cannot be read", e);
    }
  }

  /** A payload that is no object has none. */
  private static boolean hasUsableDates(@Nullable Map<String, Object> claims) {
    return claims != null
        && DATES.stream()
            .map(claims::get)
            .allMatch(date ->
                date == null
                    || (date instanceof Number number
                        && Math.abs(number.doubleValue()) <= MAX_DATE));
  }
}
