package org.plantstore.adapter.http.token;

import static org.plantstore.adapter.http.token.InvalidTokenException.require;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.token.jwt.validator.JsonWebTokenValidator;
import jakarta.inject.Singleton;
import java.security.Key;
import java.text.ParseException;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
final class TokenValidation implements JsonWebTokenValidator<JWTClaimsSet, HttpRequest<?>> {

  /** A token that is valid now for this service if a key has signed it. */
  private record Unverified(SignedJWT token, JWTClaimsSet claims) {}

  /** RFC 7515, section 7.1. The library's decoder is lenient. */
  private static final Pattern COMPACT = Pattern.compile("[\\w-]++\\.[\\w-]++\\.[\\w-]++");

  /**
   * RFC 7515, section 4.1.9; SPIFFE's tokens may have {@code JOSE}. A token of another type, such
   * as a log-out token, gives no access. The library's comparison depends on the default locale.
   */
  private static final Pattern TYPE = Pattern.compile("(?i)(application/)?((at\\+)?jwt|jose)");

  private static final int CLOCK_SKEW_SECONDS = 30;

  /** The end of the year 9999. The library's dates overflow, which are in milliseconds. */
  private static final double LAST_SECOND = 253_402_300_799.0;

  private static final DefaultJWSVerifierFactory VERIFIERS = new DefaultJWSVerifierFactory();

  /** Verifies signatures of public keys, because that takes long. */
  private final Executor verification =
      new ThreadPoolExecutor(
          2,
          2,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(1_024),
          work -> {
            Thread thread = new Thread(work, "token-verification");
            thread.setDaemon(true);
            return thread;
          },
          (work, full) -> {
            throw new RefusedException(ErrorNumber.OVERLOADED);
          });

  private final TokenSettings settings;
  private final TokenKeys keys;

  TokenValidation(TokenSettings settings, TokenKeys keys) {
    this.settings = settings;
    this.keys = keys;
  }

  /**
   * Completes with the claims of a valid token, otherwise with a RefusedException.
   *
   * @param withIds runs the fetch of a key set, so that its log lines have the ids of the request
   */
  CompletableFuture<JWTClaimsSet> validateAsync(String text, Consumer<Runnable> withIds) {
    return CompletableFuture.completedFuture(text)
        .thenApply(this::parse)
        .thenCompose(parsed -> {
          JWSHeader header = parsed.token.getHeader();
          Executor executor =
              KeySet.ALGORITHMS.contains(header.getAlgorithm()) ? verification : Runnable::run;
          return keys.search(header, withIds)
              .thenApply(ended -> requireKeys(header))
              .thenApplyAsync(found -> verified(parsed, found), executor);
        });
  }

  /** Returns the claims of a valid token whose key is known; throws RefusedException otherwise. */
  @Override
  public Optional<JWTClaimsSet> validate(String text, @Nullable HttpRequest<?> request) {
    Unverified parsed = parse(text);
    return Optional.of(verified(parsed, requireKeys(parsed.token.getHeader())));
  }

  private List<? extends Key> requireKeys(JWSHeader header) {
    List<? extends Key> found = keys.find(header);
    require(!found.isEmpty(), "no key with its kid and alg is known");
    return found;
  }

  private Unverified parse(String text) {
    Unverified parsed = parsed(text);
    JWSHeader header = parsed.token.getHeader();
    JOSEObjectType type = header.getType();
    require(
        type == null || TYPE.matcher(type.getType()).matches(),
        "its typ must be JWT, at+jwt or JOSE, but is \"" + type + "\"");
    // RFC 7515, section 4.1.11: no extension that a token may demand is understood.
    require(header.getCriticalParams() == null, "it has a crit header");
    requireMeant(parsed.claims);
    return parsed;
  }

  private static Unverified parsed(String text) {
    SignedJWT token = signed(text);
    try {
      Map<String, Object> claims = token.getPayload().toJSONObject();
      claims.replaceAll((name, value) ->
          value instanceof Number date && List.of("exp", "nbf", "iat").contains(name)
              ? (Number) Math.max(-LAST_SECOND, Math.min(date.doubleValue(), LAST_SECOND))
              : value);
      return new Unverified(token, JWTClaimsSet.parse(claims));
    } catch (ParseException | RuntimeException e) { // whose message may quote the token
      throw new InvalidTokenException(
          "its claims are no JSON object, repeat a name, or have a wrong type, such as a text in exp");
    }
  }

  private static SignedJWT signed(String text) {
    try {
      if (COMPACT.matcher(text).matches()) {
        return SignedJWT.parse(text);
      }
    } catch (ParseException | RuntimeException e) {
      // falls through to the one message
    }
    throw new InvalidTokenException(
        "it is no signed JWT in its compact form",
        "The bearer token is no signed JWT in its compact form; send the access token itself, once"
            + " and without quotes.");
  }

  /** Requires that the token is valid now and here; the library's verifier accepts a null. */
  private void requireMeant(JWTClaimsSet claims) {
    Instant now = Instant.now();
    require(claims.getExpirationTime() != null, "it has no exp");
    require(
        claims.getExpirationTime().toInstant().plusSeconds(CLOCK_SKEW_SECONDS).isAfter(now),
        "it has expired");
    require(
        claims.getNotBeforeTime() == null
            || claims.getNotBeforeTime().toInstant().minusSeconds(CLOCK_SKEW_SECONDS).isBefore(now),
        "it is not valid before its nbf");
    require(
        settings.audiences().isEmpty()
            || !Collections.disjoint(settings.audiences(), claims.getAudience()),
        "its aud is not in JWT_AUDIENCE");
    require(
        settings.issuers().isEmpty()
            || settings.issuers().contains(Objects.requireNonNullElse(claims.getIssuer(), "")),
        "its iss is not in JWT_ISSUER");
  }

  /** Returns the claims if one of the keys has signed them. */
  private static JWTClaimsSet verified(Unverified parsed, List<? extends Key> candidates) {
    try {
      for (Key key : candidates) {
        SignedJWT token = parsed.token;
        if (token.verify(VERIFIERS.createJWSVerifier(token.getHeader(), key))) {
          return parsed.claims;
        }
      }
    } catch (JOSEException e) {
      // falls through, because the key does not fit the token
    }
    throw new InvalidTokenException("its signature is invalid");
  }

  /** Returns the claims if they have those of JWT_REQUIRED_CLAIMS; throws RefusedException. */
  JWTClaimsSet requireClaims(JWTClaimsSet claims) {
    for (RequiredClaim required : settings.requiredClaims()) {
      if (!required.isMetBy(claims)) {
        throw new RefusedException(
            ErrorNumber.MISSING_CLAIM,
            "The bearer token must have " + required + "; obtain one that has it.");
      }
    }
    return claims;
  }
}
