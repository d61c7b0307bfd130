package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.token.jwt.validator.JsonWebTokenValidator;
import jakarta.inject.Singleton;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
  CompletableFuture<JWTClaimsSet> validateAsync(String text, Consumer<Runnable> withIds) {
    SignedToken token = refusing(() -> parse(text));
    if (!keys.arePublished(token.header())) {
      return CompletableFuture.completedFuture(refusing(() -> token.verified(keysOf(token))));
    }
    return keys.search(token.header(), work -> fetch.execute(() -> withIds.accept(work)))
        .thenApply(ended -> refusing(() -> keysOf(token)))
        .thenApplyAsync(candidates -> refusing(() -> token.verified(candidates)), verification);
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

  /** Returns the claims of a valid token whose key is known; throws RefusedException otherwise. */
  @Override
  public Optional<JWTClaimsSet> validate(String token, @Nullable HttpRequest<?> request) {
    return Optional.of(refusing(() -> validClaims(token)));
  }

  /** Returns the claims; throws BadJOSEException if the token is not valid. */
  JWTClaimsSet validClaims(String text) throws BadJOSEException, JOSEException {
    SignedToken token = parse(text);
    return token.verified(keysOf(token));
  }

  /** Completes when the key of a token is known, or the provider has been asked for the key. */
  CompletableFuture<Void> searchKey(String token, Executor executor) {
    try {
      return keys.search(parse(token).header(), executor);
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
      if (SignedToken.NO_SIGNED_TOKEN.equals(e.getMessage())) {
        throw new RefusedException(
            ErrorNumber.INVALID_TOKEN,
            "The bearer token is no signed JWT in its compact form; send the access token itself,"
                + " once and without quotes.");
      }
      throw new RefusedException(ErrorNumber.INVALID_TOKEN);
    }
  }

  /** Returns a token for this service, whose signature is not verified yet. */
  private SignedToken parse(String text) throws BadJWTException {
    SignedToken token = SignedToken.parse(text);
    String issuer = Objects.requireNonNullElse(token.claims().getIssuer(), "");
    SignedToken.require(
        settings.audiences().isEmpty()
            || !Collections.disjoint(settings.audiences(), token.claims().getAudience()),
        "JWT aud claim rejected");
    SignedToken.require(
        settings.issuers().isEmpty() || settings.issuers().contains(issuer),
        "its iss is not in JWT_ISSUER");
    return token;
  }

  private List<? extends Key> keysOf(SignedToken token) throws BadJWTException, KeySourceException {
    List<? extends Key> candidates = keys.selectJWSKeys(token.header(), null);
    SignedToken.require(!candidates.isEmpty(), "no key with its kid and alg is known");
    return candidates;
  }
}
