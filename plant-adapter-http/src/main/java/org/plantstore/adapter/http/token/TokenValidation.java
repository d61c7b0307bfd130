package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.token.jwt.validator.JsonWebTokenValidator;
import jakarta.inject.Singleton;
import java.security.GeneralSecurityException;
import java.text.ParseException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/**
 * Validates bearer tokens (RFC 6750): the form (RFC 7515), the algorithm, which must fit the
 * configured key (RFC 8725), the signature, and the claims (RFC 7519). Keys never come from a
 * token. Safe for use by many threads.
 */
@Singleton
final class TokenValidation implements JsonWebTokenValidator<JWTClaimsSet, HttpRequest<?>> {

  /** Canonical base64url: the unused bits of the last character are 0 (RFC 4648, 3.5). */
  private static final String BASE64URL =
      "(?:[A-Za-z0-9_-]{4})*+(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?";

  private static final Pattern SIGNED_TOKEN =
      Pattern.compile(BASE64URL + "\\." + BASE64URL + "\\." + BASE64URL);

  /** RFC 7515, section 4.1.9. A token of another type, such as a log-out token, gives no access. */
  private static final Pattern TYPE = Pattern.compile("(?i)(application/)?(at\\+)?jwt");

  private static final int CLOCK_SKEW_SECONDS = 30;

  /** Below the overflow of the library's dates, which are in milliseconds. */
  private static final double MAX_DATE_SECONDS = 1e15;

  private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
  private final TokenKeys keys;
  private final TokenSettings settings;

  TokenValidation(TokenSettings settings, TokenKeys keys) {
    this.settings = settings;
    this.keys = keys;
    processor.setJWSTypeVerifier(
        (type, context) -> // the library's own comparison depends on the default locale
        require(
                type == null || TYPE.matcher(type.getType()).matches(),
                "its typ must be JWT or at+jwt, but is \"" + type + "\""));
    processor.setJWSKeySelector(keys);
    processor.setJWTClaimsSetVerifier(claimsVerifier(settings.audiences()));
  }

  private static DefaultJWTClaimsVerifier<SecurityContext> claimsVerifier(List<String> audiences) {
    DefaultJWTClaimsVerifier<SecurityContext> verifier =
        new DefaultJWTClaimsVerifier<>(
            audiences.isEmpty() ? null : Set.copyOf(audiences), null, Set.of("exp"), null);
    verifier.setMaxClockSkew(CLOCK_SKEW_SECONDS);
    return verifier;
  }

  /** Returns the claims of a valid token; throws RefusedException otherwise. */
  JWTClaimsSet requireValid(String token) {
    if (token.isEmpty()) {
      throw new RefusedException(ErrorNumber.NO_TOKEN);
    }
    return validate(token, null).orElseThrow(() -> new RefusedException(ErrorNumber.INVALID_TOKEN));
  }

  /** Requires the claims of JWT_REQUIRED_CLAIMS; throws RefusedException otherwise. */
  void requireClaims(JWTClaimsSet claims) {
    for (RequiredClaim required : settings.requiredClaims()) {
      if (!required.isMetBy(claims)) {
        throw new RefusedException(
            ErrorNumber.MISSING_CLAIM,
            "The bearer token must have " + required + "; obtain one that has it.");
      }
    }
  }

  /**
   * Returns the claims of a valid token, or nothing if it is not valid.
   *
   * @throws RefusedException if the keys cannot be fetched now
   * @throws IllegalStateException if the JVM cannot check tokens, such as without the algorithm
   */
  @Override
  public Optional<JWTClaimsSet> validate(String token, @Nullable HttpRequest<?> request) {
    try {
      return Optional.of(validClaims(token));
    } catch (KeySourceException e) {
      throw new RefusedException(ErrorNumber.KEYS_UNAVAILABLE);
    } catch (BadJOSEException | JOSEException e) {
      if (e instanceof JOSEException && e.getCause() instanceof GeneralSecurityException) {
        throw new IllegalStateException("a token cannot be checked: " + e.getMessage(), e);
      }
      return Optional.empty();
    }
  }

  /** Returns the claims; throws BadJOSEException if the token is not valid. */
  JWTClaimsSet validClaims(String token) throws BadJOSEException, JOSEException {
    // Type, algorithm, key, signature; then aud, exp, nbf and iss (RFC 7519, section 4.1).
    JWTClaimsSet claims = processor.process(parse(token), null);
    String issuer = Objects.requireNonNullElse(claims.getIssuer(), "");
    List<String> issuers = settings.issuers();
    require(issuers.isEmpty() || issuers.contains(issuer), "its iss is not in JWT_ISSUER");
    return claims;
  }

  private static SignedJWT parse(String token) throws BadJWTException {
    try {
      // RFC 7515, section 7.1: the compact form; the library's decoder is lenient.
      require(SIGNED_TOKEN.matcher(token).matches(), "it is no signed JWT in its compact form");
      SignedJWT parsed = SignedJWT.parse(token);
      // RFC 7515, section 4.1.11: no extension that a token may demand is understood.
      require(parsed.getHeader().getCriticalParams() == null, "it has a crit header");
      // RFC 7519, section 2; the library would take a null for an expiration time.
      Map<String, Object> claims = parsed.getPayload().toJSONObject();
      require(claims.get("exp") != null, "it has no exp");
      require(
          Stream.of("exp", "nbf", "iat").map(claims::get).allMatch(TokenValidation::isDateOrNull),
          "its exp, nbf and iat must be numbers");
      return parsed;
    } catch (ParseException | RuntimeException | StackOverflowError e) {
      throw new BadJWTException("it is no signed JWT"); // a parser's message may quote the token
    }
  }

  private static void require(boolean isMet, String otherwise) throws BadJWTException {
    if (!isMet) {
      throw new BadJWTException(otherwise);
    }
  }

  private static boolean isDateOrNull(@Nullable Object value) {
    return value == null
        || (value instanceof Number number && Math.abs(number.doubleValue()) <= MAX_DATE_SECONDS);
  }

  /** Completes when the key of a token is known, or the provider has been asked for the key. */
  CompletableFuture<Void> searchKey(String token, Executor executor) {
    try {
      return keys.search(parse(token).getHeader(), executor);
    } catch (BadJWTException e) {
      return CompletableFuture.completedFuture(null); // needs no key to be refused
    }
  }
}
