package org.plantstore.adapter.http.token;

import static org.plantstore.adapter.http.token.InvalidTokenException.require;

import com.nimbusds.jwt.JWTClaimsSet;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.token.jwt.validator.JsonWebTokenValidator;
import jakarta.inject.Singleton;
import java.util.Collections;
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
  private final TokenSettings settings;
  private final TokenKeys keys;

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
   * Completes with the claims of a valid token, otherwise with a RefusedException, or throws it. A
   * signature of a provider is verified by a thread of its own, because that takes long.
   *
   * @param withIds runs the fetch of a key set, so that its log lines have the ids of the request
   */
  CompletableFuture<JWTClaimsSet> validateAsync(String text, Consumer<Runnable> withIds) {
    SignedToken token = parse(text);
    if (!keys.arePublished(token.header())) {
      return CompletableFuture.completedFuture(token.verified(keys.find(token.header())));
    }
    return keys.search(token.header(), work -> fetch.execute(() -> withIds.accept(work)))
        .thenApply(ended -> keys.find(token.header()))
        .thenApplyAsync(token::verified, verification);
  }

  /** Returns the claims of a valid token whose key is known; throws RefusedException otherwise. */
  @Override
  public Optional<JWTClaimsSet> validate(String text, @Nullable HttpRequest<?> request) {
    SignedToken token = parse(text);
    return Optional.of(token.verified(keys.find(token.header())));
  }

  /** Returns a token for this service, whose signature is not verified yet. */
  private SignedToken parse(String text) {
    SignedToken token = SignedToken.parse(text);
    String issuer = Objects.requireNonNullElse(token.claims().getIssuer(), "");
    require(
        settings.audiences().isEmpty()
            || !Collections.disjoint(settings.audiences(), token.claims().getAudience()),
        "its aud is not in JWT_AUDIENCE");
    require(
        settings.issuers().isEmpty() || settings.issuers().contains(issuer),
        "its iss is not in JWT_ISSUER");
    return token;
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
}
