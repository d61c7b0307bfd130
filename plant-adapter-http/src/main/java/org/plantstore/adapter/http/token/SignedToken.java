package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
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

  static final String NO_SIGNED_TOKEN = "it is no signed JWT in its compact form";

  /**
   * RFC 7515, section 4.1.9; SPIFFE's tokens may have {@code JOSE}. A token of another type, such
   * as a log-out token, gives no access. The library's comparison depends on the default locale.
   */
  private static final Pattern TYPE = Pattern.compile("(?i)(application/)?((at\\+)?jwt|jose)");

  private static final int CLOCK_SKEW_SECONDS = 30;

  /** The end of the year 9999. */
  private static final double LAST_SECOND = 253_402_300_799.0;

  private static final DefaultJWSVerifierFactory VERIFIERS = new DefaultJWSVerifierFactory();

  /**
   * Returns a token whose signature is not verified yet; throws BadJWTException with the reason.
   */
  static SignedToken parse(String text) throws BadJWTException {
    try {
      require(SIGNED_TOKEN.matcher(text).matches(), NO_SIGNED_TOKEN);
      SignedJWT token = SignedJWT.parse(text);
      JWTClaimsSet claims = token.getJWTClaimsSet();
      require(
          token.getHeader().getType() == null
              || TYPE.matcher(token.getHeader().getType().getType()).matches(),
          "its typ must be JWT, at+jwt or JOSE, but is \"" + token.getHeader().getType() + "\"");
      // RFC 7515, section 4.1.11: no extension that a token may demand is understood.
      require(token.getHeader().getCriticalParams() == null, "it has a crit header");
      requireNow(token.getPayload().toJSONObject());
      return new SignedToken(token, claims);
    } catch (ParseException | RuntimeException | StackOverflowError e) {
      throw new BadJWTException(NO_SIGNED_TOKEN); // a parser's message may quote the token
    }
  }

  JWSHeader header() {
    return token.getHeader();
  }

  /** RFC 7519, section 2. The library's dates overflow, and its verifier accepts a null. */
  private static void requireNow(Map<String, Object> claims) throws BadJWTException {
    require(claims.get("exp") != null, "it has no exp");
    require(
        isDateOrNull(claims.get("exp"))
            && isDateOrNull(claims.get("nbf"))
            && isDateOrNull(claims.get("iat")),
        "its exp, nbf and iat must be numbers");
    double now = System.currentTimeMillis() / 1_000.0;
    require(seconds(claims.get("exp")) + CLOCK_SKEW_SECONDS > now, "Expired JWT");
    require(seconds(claims.get("nbf")) - CLOCK_SKEW_SECONDS < now, "JWT before use time");
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
   * them.
   */
  @SuppressWarnings("JavaUtilDate") // as the library takes it
  JWTClaimsSet verified(List<? extends Key> candidates) throws BadJWTException, JOSEException {
    for (Key key : candidates) {
      if (token.verify(VERIFIERS.createJWSVerifier(token.getHeader(), key))) {
        double expires = seconds(token.getPayload().toJSONObject().get("exp"));
        Instant bounded = Instant.ofEpochSecond((long) Math.min(expires, LAST_SECOND));
        return new JWTClaimsSet.Builder(claims).expirationTime(Date.from(bounded)).build();
      }
    }
    throw new BadJWTException("its signature is invalid");
  }

  static void require(boolean isMet, String otherwise) throws BadJWTException {
    if (!isMet) {
      throw new BadJWTException(otherwise);
    }
  }

  /** Returns nothing of the token, which is a secret. */
  @Override
  public String toString() {
    return "a token";
  }
}
