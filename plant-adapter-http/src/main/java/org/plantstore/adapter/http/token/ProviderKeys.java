package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys of an identity provider, which are fetched at a limited rate. While the provider
 * is down or publishes no usable key, the known keys remain in use, and a search for an unknown key
 * fails. Searches that exceed the rate limit wait for the next permitted fetch without blocking a
 * thread, whereas the Nimbus class {@code JWKSourceBuilder} would throw an exception. Safe for use
 * by multiple threads.
 */
final class ProviderKeys {

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeys.class);

  /**
   * The result of the last fetch. Each fetch replaces the entire record.
   *
   * @param keys the keys from the last successful fetch
   * @param began the {@link System#nanoTime()} when the last fetch began
   * @param isDown whether the last fetch failed or no fetch has ended yet
   */
  private record Known(KeySet keys, long began, boolean isDown) {}

  private final KeySetClient client;

  private final ScheduledExecutorService scheduler =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "key-set");
        thread.setDaemon(true);
        return thread;
      });

  private final long lifetimeNanos;
  private final long pauseNanos;

  /** Limits the number of tokens that wait for a fetch, so that they cannot fill the memory. */
  private final Semaphore searches;

  private volatile Known known = new Known(KeySet.EMPTY, System.nanoTime(), true);

  // These fields are guarded by this object's monitor.
  private CompletableFuture<Void> fetch = CompletableFuture.completedFuture(null);
  private long nextFetchNanos = System.nanoTime();
  private long nextRepetitionNanos = nextFetchNanos;

  /**
   * Creates an instance that fetches the keys again when their lifetime ends. Fetches begin at
   * least 1/120 of the lifetime apart.
   *
   * @param maxSearches the maximum number of tokens that may wait for a fetch
   */
  ProviderKeys(URI address, Duration lifetime, int maxSearches) {
    client = new KeySetClient(address);
    lifetimeNanos = lifetime.toNanos();
    pauseNanos = lifetimeNanos / 120;
    searches = new Semaphore(maxSearches);
  }

  /** Returns the known keys. The result is the same object until the keys change. */
  JWKSet current() {
    return known.keys.usable();
  }

  /**
   * Searches for a key that matches the selector. The returned future completes when such a key is
   * known, or when a fetch that began after this call has ended. The future completes with
   * RefusedException if no such key is known and the provider is down.
   *
   * <p>If one of the tried keys matches the selector, either the token is forged, or the provider
   * has replaced that key under the same {@code kid}. Such searches start at most one fetch per
   * tenth of the lifetime, so that forged tokens cannot cause many fetches. Other searches of this
   * kind only wait for a fetch that is already in progress.
   *
   * @param tried the known keys, none of which verified the token's signature
   * @throws RefusedException with {@code OVERLOADED} if too many tokens are waiting for a fetch
   */
  CompletableFuture<Void> search(JWKSelector selector, JWKSet tried) {
    long began = System.nanoTime();
    boolean isReplacement = !selector.select(tried).isEmpty();
    BooleanSupplier isFound =
        () -> isReplacement ? !current().equals(tried) : !selector.select(current()).isEmpty();
    if (isFound.getAsBoolean()) {
      return CompletableFuture.completedFuture(null);
    }
    if (!searches.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    boolean mayFetch = !isReplacement || mayRepeat();
    Supplier<CompletableFuture<Void>> next = () -> nextFetch(mayFetch);
    return next.get()
        .thenCompose(ended ->
            isFound.getAsBoolean() || known.isDown || known.began - began >= 0
                ? CompletableFuture.completedFuture(null)
                : next.get())
        .whenComplete((ended, failure) -> searches.release())
        .thenRun(() -> {
          if (known.isDown && !isReplacement && !isFound.getAsBoolean()) {
            throw new RefusedException(ErrorNumber.KEYS_UNAVAILABLE);
          }
        });
  }

  /** Returns whether a search for a replaced key may fetch now. If so, delays the next one. */
  private synchronized boolean mayRepeat() {
    long now = System.nanoTime();
    if (now - nextRepetitionNanos < 0) {
      return false;
    }
    nextRepetitionNanos = Math.max(now, nextFetchNanos) + lifetimeNanos / 10;
    return true;
  }

  /** Starts a fetch if the keys' lifetime, or a tenth of it after a failed fetch, has passed. */
  void renew() {
    Known now = known;
    long intervalNanos = now.isDown ? lifetimeNanos / 10 : lifetimeNanos;
    if (!now.keys.usable().isEmpty() && System.nanoTime() - now.began >= intervalNanos) {
      nextFetch(true);
    }
  }

  /**
   * Returns the fetch in progress. If no fetch is in progress and one is permitted, schedules a
   * fetch for the end of the pause, and returns it. Otherwise, returns the last fetch. While the
   * provider is down, this method schedules no delayed fetch, so that searches fail immediately.
   */
  private synchronized CompletableFuture<Void> nextFetch(boolean isPermitted) {
    long now = System.nanoTime();
    long delay = Math.max(0, nextFetchNanos - now);
    if (isPermitted && fetch.isDone() && (delay == 0 || !known.isDown)) {
      nextFetchNanos = now + delay + pauseNanos;
      fetch =
          CompletableFuture.runAsync(
              this::fetch, work -> scheduler.schedule(work, delay, TimeUnit.NANOSECONDS));
    }
    return fetch;
  }

  /** Fetches the key set. Logs a failed fetch, and the unusable keys if the key set has changed. */
  void fetch() {
    long began = System.nanoTime();
    KeySet before = known.keys;
    try {
      KeySet fetched = client.fetch();
      boolean isSame = fetched.equals(before);
      if (!isSame) {
        fetched.warnOfUnusableKeys();
      }
      known = new Known(isSame ? before : fetched, began, false);
    } catch (ConfigurationException e) {
      known = new Known(before, began, true);
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", e.getMessage());
    }
  }
}
