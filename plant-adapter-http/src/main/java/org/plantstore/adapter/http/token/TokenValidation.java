package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.plantstore.adapter.http.token.InvalidTokenException.require;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import jakarta.inject.Singleton;
import java.security.Key;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Validates the format (RFC 7515), signature, and claims (RFC 7519) of bearer tokens, and requires
 * that each token's algorithm match a configured key (RFC 8725). Keys that a token contains or
 * links to are never used. Safe for use by multiple threads.
 */
@Singleton
final class TokenValidation {

  private static final DefaultJWSVerifierFactory VERIFIERS = new DefaultJWSVerifierFactory();

  /**
   * Verifies public-key signatures on separate threads, because this work would block an event loop
   * for too long.
   */
  final Executor verification = BoundedPool.of("token-verification", 2);

  private final TokenSettings settings;
  private final TokenKeys keys;

  TokenValidation(TokenSettings settings, TokenKeys keys) {
    this.settings = settings;
    this.keys = keys;
  }

  /** Returns a future that completes with the valid token, or fails with a RefusedException. */
  CompletableFuture<ValidToken> validate(String text) {
    return CompletableFuture.completedFuture(text)
        .thenApply(SignedJwt::parse)
        .thenApply(this::requireAcceptable)
        .thenCompose(token ->
            requireSigned(token)
                .thenApply(known -> ValidToken.of(token, settings.requiredClaims(), known)));
  }

  /**
   * Returns a future that completes with a snapshot of the keys if one of them verifies the
   * signature. If no known key verifies the signature, this method asks the identity provider for
   * new keys.
   */
  private CompletableFuture<TokenKeys.Snapshot> requireSigned(SignedJwt token) {
    TokenKeys.Snapshot known = keys.current();
    return verify(token, known)
        .thenCompose(isSigned ->
            isSigned
                ? CompletableFuture.completedFuture(known)
                : keys.search(token.header(), known)
                    .thenCompose(found -> requireSigned(token, found, known)));
  }

  private CompletableFuture<TokenKeys.Snapshot> requireSigned(
      SignedJwt token, TokenKeys.Snapshot found, TokenKeys.Snapshot tried) {
    CompletableFuture<Boolean> verified =
        found.equals(tried) ? CompletableFuture.completedFuture(false) : verify(token, found);
    return verified.thenApply(isSigned -> {
      if (isSigned) {
        return found;
      }
      throw badSignature(token.header(), found);
    });
  }

  private InvalidTokenException badSignature(JWSHeader header, TokenKeys.Snapshot known) {
    require(
        !known.find(header).isEmpty(),
        "This service has no key for the algorithm (alg) and the key ID (kid) of the bearer token;"
            + " obtain a token from an issuer that this service trusts.",
        known.describe(header),
        header.toJSONObject());
    return new InvalidTokenException(
        settings.keySet() == null
            ? "The bearer token is not signed with any of this service's secrets; obtain a new"
                + " token, and send it unchanged."
            : "The bearer token is not signed with a key that this service or its identity"
                + " provider uses; obtain a new token, and send it unchanged. If the provider has just"
                + " replaced its key, repeat the request after 30 s.");
  }

  /** Returns a future that completes with true if one of the keys verifies the signature. */
  private CompletableFuture<Boolean> verify(SignedJwt token, TokenKeys.Snapshot known) {
    List<? extends Key> found = known.find(token.header());
    return PublishedKey.isFor(token.header())
        ? CompletableFuture.supplyAsync(() -> isSigned(token, found), verification)
        : CompletableFuture.completedFuture(isSigned(token, found));
  }

  static boolean isSigned(SignedJwt token, List<? extends Key> candidates) {
    return candidates.stream().anyMatch(key -> isSigned(token, key));
  }

  private static boolean isSigned(SignedJwt token, Key key) {
    try {
      return VERIFIERS
          .createJWSVerifier(token.header(), key)
          .verify(token.header(), token.input().getBytes(US_ASCII), token.signature());
    } catch (JOSEException e) {
      return false; // the key is not suitable for the token's algorithm, but another key may be
    }
  }

  /**
   * Returns the token if the current time is within the token's validity period, and if the token's
   * audience and issuer are accepted. Throws InvalidTokenException if any of these conditions is
   * not met.
   */
  private SignedJwt requireAcceptable(SignedJwt token) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    Instant expires = token.time("exp");
    require(
        expires != null,
        "The bearer token has no expiration time (exp); obtain a token that has one.",
        "an exp after " + now,
        null);
    require(
        !ValidToken.hasExpired(token.expires()),
        "The bearer token expired at " + expires + "; obtain a new token.",
        "an exp after " + now,
        expires);
    Instant begins = token.time("nbf");
    require(
        begins == null || begins.minus(ValidToken.CLOCK_SKEW).isBefore(now),
        "The bearer token is not valid before "
            + begins
            + "; send it after that time, or correct the issuer's clock.",
        "an nbf before " + now,
        begins);
    Object audience = token.claims().get("aud");
    require(
        isAccepted(
            settings.audiences(), audience instanceof List<?> all ? all : Arrays.asList(audience)),
        "The audience (aud) of the bearer token does not include this service; obtain a token that"
            + " is meant for this service.",
        String.join(" or ", settings.audiences()),
        audience);
    Object issuer = token.claims().get("iss");
    require(
        isAccepted(settings.issuers(), Arrays.asList(issuer)),
        "This service does not trust the issuer (iss) of the bearer token; obtain a token from this"
            + " service's identity provider.",
        String.join(" or ", settings.issuers()),
        issuer);
    return token;
  }

  private static boolean isAccepted(List<String> accepted, List<?> values) {
    return accepted.isEmpty() || accepted.stream().anyMatch(values::contains);
  }
}
