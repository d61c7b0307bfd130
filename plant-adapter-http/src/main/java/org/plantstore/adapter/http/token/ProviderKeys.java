package org.plantstore.adapter.http.token;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.token.ProviderKeySet.Fetched;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of an identity provider. While the provider is down, or publishes no usable key, the
 * known keys stay in use, and a search for an unknown key fails. The library's {@code
 * JWKSourceBuilder} refuses a search that exceeds its rate limit; here the search waits for the
 * next fetch, without a thread. Safe for use by many threads.
 */
final class ProviderKeys implements JWKSource<SecurityContext> {

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeys.class);

  private final ProviderKeySet keySet;
  private final long lifetimeNanos;

  /** Bounds the tokens that wait for an unknown key; most of these tokens are forged. */
  private final Semaphore searches;

  private volatile JWKSet known = new JWKSet();
  private volatile long knownNanos; // the time at which the last successful fetch began
  private volatile boolean isDown = true; // until a fetch has succeeded
  private volatile CompletableFuture<Void> fetch = CompletableFuture.completedFuture(null);
  private long lastNanos; // the times at which the last two fetches began, or will begin
  private long lastButOneNanos;

  /** Keeps a key set for the lifetime; at most two fetches begin in a 60th of the lifetime. */
  ProviderKeys(URI address, Duration lifetime, int maxSearches) {
    keySet = new ProviderKeySet(address);
    lifetimeNanos = lifetime.toNanos();
    searches = new Semaphore(maxSearches);
    lastNanos = System.nanoTime() - lifetimeNanos;
    lastButOneNanos = lastNanos;
  }

  /** Returns the keys that are known now, the same object until the provider has others. */
  JWKSet current() {
    return known;
  }

  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context)
      throws KeySourceException {
    List<JWK> found = selector.select(known);
    if (found.isEmpty() && isDown) {
      throw new JWKSetUnavailableException("the key set cannot be fetched now");
    }
    return found;
  }

  /**
   * Completes when a key is known, or when a fetch has ended that began after this call. One token
   * with a known key may wait for a refresh; all others use the known key at once.
   *
   * @throws RefusedException if too many callers wait for unknown keys
   */
  CompletableFuture<Void> search(JWKSelector selector, Executor executor) {
    long now = System.nanoTime();
    CompletableFuture<Void> completed = CompletableFuture.completedFuture(null);
    if (isKnown(selector)) {
      long age = now - knownNanos;
      if (age < lifetimeNanos / 4 * 3 || !fetch.isDone()) {
        return completed;
      }
      CompletableFuture<Void> renewal = nextFetch(executor);
      return age < lifetimeNanos || isDown ? completed : renewal;
    }
    if (!searches.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    return nextFetch(executor)
        .thenCompose(ended -> isSettled(selector, now) ? completed : nextFetch(executor))
        .whenComplete((ended, failure) -> searches.release());
  }

  private boolean isKnown(JWKSelector selector) {
    return !selector.select(known).isEmpty();
  }

  /** Returns whether another fetch cannot change the answer to a search that began then. */
  private boolean isSettled(JWKSelector selector, long then) {
    return isKnown(selector) || isDown || knownNanos - then >= 0;
  }

  /**
   * Returns the unfinished fetch or a new one; while the provider is down, none beyond the limit.
   */
  private synchronized CompletableFuture<Void> nextFetch(Executor executor) {
    long now = System.nanoTime();
    long delay = Math.max(0, lastButOneNanos + lifetimeNanos / 60 - now);
    if (fetch.isDone() && (delay == 0 || !isDown)) {
      lastButOneNanos = lastNanos;
      lastNanos = now + delay;
      fetch =
          new CompletableFuture<Void>()
              .completeOnTimeout(null, delay, TimeUnit.NANOSECONDS)
              .thenRunAsync(this::renew, executor);
    }
    return fetch;
  }

  /** Fetches the key set. Logs the reason of a failure, and the keys that are left out. */
  void renew() {
    long beganNanos = System.nanoTime();
    try {
      Fetched fetched = keySet.fetch();
      if (!fetched.leftOut().isEmpty()) {
        LOG.warn("The key set at JWT_JWKS_URL has keys that are left out, {}", fetched);
      }
      if (!fetched.usable().equals(known)) {
        known = fetched.usable();
      }
      knownNanos = beganNanos;
      isDown = false;
    } catch (IOException e) {
      isDown = true;
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", e.getMessage());
    }
  }
}
