package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import jakarta.inject.Singleton;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.text.ParseException;
import java.time.Instant;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/**
 * Validates bearer tokens (RFC 6750): the form (RFC 7515), the algorithm, which must fit the
 * configured key (RFC 8725), the signature, and the claims (RFC 7519). Keys never come from a
 * token. Safe for use by many threads.
 */
@Singleton
final class TokenValidation {

  /** RFC 7515, section 7.1. The library's decoder is lenient. */
  private static final Pattern SIGNED_TOKEN = Pattern.compile("[\\w-]++\\.[\\w-]++\\.[\\w-]++");

  private static final String NO_SIGNED_TOKEN = "it is no signed JWT in its compact form";

  /**
   * RFC 7515, section 4.1.9; SPIFFE's tokens may have {@code JOSE}. A token of another type, such
   * as a log-out token, gives no access. The library's comparison depends on the default locale.
   */
  private static final Pattern TYPE = Pattern.compile("(?i)(application/)?((at\\+)?jwt|jose)");

  private static final int CLOCK_SKEW_SECONDS = 30;

  /** The end of the year 9999. */
  private static final double LAST_SECOND = 253_402_300_799.0;

  private static final DefaultJWSVerifierFactory VERIFIERS = new DefaultJWSVerifierFactory();

  private final Executor verification = threads("token-verification", 2, 1_024);
  private final Executor fetch = threads("key-set", 1, 1);
  private final TokenKeys keys;
  private final TokenSettings settings;

  TokenValidation(TokenSettings settings, TokenKeys keys) {
    this.settings = settings;
    this.keys = keys;
  }

  private static Executor threads(String name, int number, int maxWaiting) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            number,
            number,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(maxWaiting),
            work -> {
              Thread thread = new Thread(work, name);
              thread.setDaemon(true);
              return thread;
            },
            (work, full) -> {
              throw new RefusedException(ErrorNumber.OVERLOADED);
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Completes with the claims of a valid token, otherwise with a RefusedException. A signature of a
   * provider is verified by a thread of its own, because that takes long. A token that has no such
   * signature needs no thread.
   *
   * @param withIds runs the fetch of a key set, so that its log lines have the ids of the request
   */
  CompletableFuture<JWTClaimsSet> validate(String text, Consumer<Runnable> withIds) {
    SignedJWT token = refusing(() -> parse(text));
    if (!keys.arePublished(token.getHeader())) {
      return CompletableFuture.completedFuture(refusing(() -> verified(token, keysOf(token))));
    }
    return keys.search(token.getHeader(), work -> fetch.execute(() -> withIds.accept(work)))
        .thenApply(ended -> refusing(() -> keysOf(token)))
        .thenApplyAsync(candidates -> refusing(() -> verified(token, candidates)), verification);
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

  /** Returns the claims of a token whose key need not be searched; throws RefusedException. */
  JWTClaimsSet requireValid(String token) {
    return refusing(() -> validClaims(token));
  }

  /** Returns the claims; throws BadJOSEException if the token is not valid. */
  JWTClaimsSet validClaims(String text) throws BadJOSEException, JOSEException {
    SignedJWT token = parse(text);
    return verified(token, keysOf(token));
  }

  /** Completes when the key of a token is known, or the provider has been asked for the key. */
  CompletableFuture<Void> searchKey(String token, Executor executor) {
    try {
      return keys.search(parse(token).getHeader(), executor);
    } catch (BadJWTException e) {
      return CompletableFuture.completedFuture(null); // needs no key to be refused
    }
  }

  private interface Check<T> {
    T result() throws BadJOSEException, JOSEException;
  }

  private static <T> T refusing(Check<T> check) {
    try {
      return check.result();
    } catch (KeySourceException e) {
      throw new RefusedException(ErrorNumber.KEYS_UNAVAILABLE);
    } catch (BadJOSEException | JOSEException e) {
      if (e instanceof JOSEException && e.getCause() instanceof GeneralSecurityException) {
        throw new IllegalStateException("a token cannot be checked: " + e.getMessage(), e);
      }
      if (NO_SIGNED_TOKEN.equals(e.getMessage())) {
        throw new RefusedException(
            ErrorNumber.INVALID_TOKEN,
            "The bearer token is no signed JWT in its compact form; send the access token itself,"
                + " once and without quotes.");
      }
      throw new RefusedException(ErrorNumber.INVALID_TOKEN);
    }
  }

  /** Returns a token whose signature is not verified yet. */
  private SignedJWT parse(String text) throws BadJWTException {
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
      require(
          settings.audiences().isEmpty()
              || !Collections.disjoint(settings.audiences(), claims.getAudience()),
          "JWT aud claim rejected");
      String issuer = Objects.requireNonNullElse(claims.getIssuer(), "");
      List<String> issuers = settings.issuers();
      require(issuers.isEmpty() || issuers.contains(issuer), "its iss is not in JWT_ISSUER");
      return token;
    } catch (ParseException | RuntimeException | StackOverflowError e) {
      throw new BadJWTException(NO_SIGNED_TOKEN); // a parser's message may quote the token
    }
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

  private List<? extends Key> keysOf(SignedJWT token) throws BadJWTException, KeySourceException {
    List<? extends Key> candidates = keys.selectJWSKeys(token.getHeader(), null);
    require(!candidates.isEmpty(), "no key with its kid and alg is known");
    return candidates;
  }

  /** Returns the claims, with an expiry that every date can have. */
  @SuppressWarnings("JavaUtilDate") // as the library takes it
  private static JWTClaimsSet verified(SignedJWT token, List<? extends Key> candidates)
      throws BadJWTException, JOSEException {
    for (Key key : candidates) {
      if (token.verify(VERIFIERS.createJWSVerifier(token.getHeader(), key))) {
        double expires = seconds(token.getPayload().toJSONObject().get("exp"));
        Instant bounded = Instant.ofEpochSecond((long) Math.min(expires, LAST_SECOND));
        try {
          return new JWTClaimsSet.Builder(token.getJWTClaimsSet())
              .expirationTime(Date.from(bounded))
              .build();
        } catch (ParseException e) {
          throw new BadJWTException(NO_SIGNED_TOKEN);
        }
      }
    }
    throw new BadJWTException("its signature is invalid");
  }

  private static void require(boolean isMet, String otherwise) throws BadJWTException {
    if (!isMet) {
      throw new BadJWTException(otherwise);
    }
  }
}
