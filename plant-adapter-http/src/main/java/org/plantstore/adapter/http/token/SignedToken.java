package org.plantstore.adapter.http.token;

import static org.plantstore.adapter.http.token.InvalidTokenException.require;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A token that is well-formed and valid now, and whose signature is to be verified. */
record SignedToken(SignedJWT token, JWTClaimsSet claims) {

  /** RFC 7515, section 7.1. The library's decoder is lenient. */
  private static final Pattern SIGNED_TOKEN = Pattern.compile("[\\w-]++\\.[\\w-]++\\.[\\w-]++");

  /**
   * RFC 7515, section 4.1.9; SPIFFE's tokens may have {@code JOSE}. A token of another type, such
   * as a log-out token, gives no access. The library's comparison depends on the default locale.
   */
  private static final Pattern TYPE = Pattern.compile("(?i)(application/)?((at\\+)?jwt|jose)");

  private static final int CLOCK_SKEW_SECONDS = 30;

  /** The end of the year 9999. */
  private static final double LAST_SECOND = 253_402_300_799.0;

  private static final DefaultJWSVerifierFactory VERIFIERS = new DefaultJWSVerifierFactory();

  /** Returns a token whose signature is not verified yet; throws InvalidTokenException. */
  static SignedToken parse(String text) {
    SignedToken parsed = parsed(text);
    JOSEObjectType type = parsed.header().getType();
    require(
        type == null || TYPE.matcher(type.getType()).matches(),
        "its typ must be JWT, at+jwt or JOSE, but is \"" + type + "\"");
    // RFC 7515, section 4.1.11: no extension that a token may demand is understood.
    require(parsed.header().getCriticalParams() == null, "it has a crit header");
    requireNow(parsed.token.getPayload().toJSONObject());
    return parsed;
  }

  private static SignedToken parsed(String text) {
    try {
      if (SIGNED_TOKEN.matcher(text).matches()) {
        SignedJWT token = SignedJWT.parse(text);
        return new SignedToken(token, token.getJWTClaimsSet());
      }
    } catch (ParseException | RuntimeException | StackOverflowError e) {
      // falls through, because a parser's message may quote the token
    }
    throw new InvalidTokenException(
        "it is no signed JWT in its compact form",
        "The bearer token is no signed JWT in its compact form; send the access token itself, once"
            + " and without quotes.");
  }

  JWSHeader header() {
    return token.getHeader();
  }

  /** RFC 7519, section 2. The library's dates overflow, and its verifier accepts a null. */
  private static void requireNow(Map<String, Object> claims) {
    require(claims.get("exp") != null, "it has no exp");
    require(
        isDateOrNull(claims.get("exp"))
            && isDateOrNull(claims.get("nbf"))
            && isDateOrNull(claims.get("iat")),
        "its exp, nbf and iat must be numbers");
    double now = System.currentTimeMillis() / 1_000.0;
    require(seconds(claims.get("exp")) + CLOCK_SKEW_SECONDS > now, "it has expired");
    require(
        seconds(claims.get("nbf")) - CLOCK_SKEW_SECONDS < now, "it is not valid before its nbf");
  }

  private static boolean isDateOrNull(@Nullable Object value) {
    return value == null
        || (value instanceof Number number && Math.abs(number.doubleValue()) <= Long.MAX_VALUE);
  }

  private static double seconds(@Nullable Object date) {
    return date instanceof Number number ? number.doubleValue() : 0;
  }

  /**
   * Returns the claims, with an expiry that every date can have, if one of the keys has signed
   * them; throws InvalidTokenException otherwise.
   */
  @SuppressWarnings("JavaUtilDate") // as the library takes it
  JWTClaimsSet verified(List<? extends Key> candidates) {
    require(!candidates.isEmpty(), "no key with its kid and alg is known");
    try {
      for (Key key : candidates) {
        if (token.verify(VERIFIERS.createJWSVerifier(token.getHeader(), key))) {
          double expires = seconds(token.getPayload().toJSONObject().get("exp"));
          Instant bounded = Instant.ofEpochSecond((long) Math.min(expires, LAST_SECOND));
          return new JWTClaimsSet.Builder(claims).expirationTime(Date.from(bounded)).build();
        }
      }
    } catch (JOSEException e) {
      if (e.getCause() instanceof GeneralSecurityException) {
        throw new IllegalStateException("a token cannot be checked: " + e.getMessage(), e);
      } // otherwise the key does not fit the token
    }
    throw new InvalidTokenException("its signature is invalid");
  }

  /** Returns nothing of the token, which is a secret. */
  @Override
  public String toString() {
    return "a token";
  }
}
