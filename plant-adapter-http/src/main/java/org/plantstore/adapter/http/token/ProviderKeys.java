package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys of an identity provider. While the provider is down or publishes no usable key,
 * the known keys remain in use, and a search for an unknown key fails. Searches that exceed the
 * rate limit wait for the next permitted fetch without blocking a thread, whereas {@code
 * JWKSourceBuilder} of Nimbus would refuse them. Safe for use by multiple threads.
 */
final class ProviderKeys {

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeys.class);

  /**
   * The result of the last fetch. Each fetch replaces the whole record.
   *
   * @param keys the keys of the last successful fetch
   * @param began when the last fetch began, as a value of {@link System#nanoTime()}
   * @param isDown whether the last fetch failed, or no fetch has ended yet
   */
  private record Known(KeySet keys, long began, boolean isDown) {}

  private final KeySetClient client;
  private final long lifetimeNanos;
  private final long pauseNanos;

  /** Limits the number of tokens that wait for a fetch, because most of them are forged. */
  private final Semaphore searches;

  private volatile Known known = new Known(KeySet.EMPTY, System.nanoTime(), true);

  // These fields are guarded by this object's monitor.
  private CompletableFuture<Void> fetch = CompletableFuture.completedFuture(null);
  private long nextFetchNanos = System.nanoTime();
  private long nextRepetitionNanos = nextFetchNanos;

  /**
   * Creates keys that are fetched again after their lifetime. Consecutive fetches begin at least
   * 1/120 of the lifetime apart.
   *
   * @param maxSearches the maximum number of tokens that wait for a fetch
   */
  ProviderKeys(URI address, Duration lifetime, int maxSearches) {
    client = new KeySetClient(address);
    lifetimeNanos = lifetime.toNanos();
    pauseNanos = lifetimeNanos / 120;
    searches = new Semaphore(maxSearches);
  }

  /** Returns the known keys, as the same object until they change. */
  JWKSet current() {
    return known.keys.usable();
  }

  /**
   * Searches for a key. The returned future completes when the key is found, or when a fetch that
   * began after this call has ended. The future completes with RefusedException if the key is
   * unknown while the provider is down.
   *
   * <p>If one of the tried keys matches the selector, the provider may have replaced that key under
   * the same {@code kid}. Because a forged token looks the same, such a search starts a fetch at
   * most once in a tenth of the lifetime. Otherwise, such a search only awaits a fetch in progress.
   *
   * @param tried the keys that did not verify the token's signature
   * @throws RefusedException with {@code OVERLOADED} if too many tokens wait for a fetch
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

  /** Returns whether a fetch for a replaced key is permitted now, and uses up that permission. */
  private synchronized boolean mayRepeat() {
    long now = System.nanoTime();
    if (now - nextRepetitionNanos < 0) {
      return false;
    }
    nextRepetitionNanos = Math.max(now, nextFetchNanos) + lifetimeNanos / 10;
    return true;
  }

  /** Starts a fetch if the lifetime of known keys has ended, or earlier after a failed fetch. */
  void renew() {
    Known now = known;
    long intervalNanos = now.isDown ? lifetimeNanos / 10 : lifetimeNanos;
    if (!now.keys.usable().isEmpty() && System.nanoTime() - now.began >= intervalNanos) {
      nextFetch(true);
    }
  }

  /**
   * Returns the fetch in progress, or starts a permitted fetch after the pause and returns it.
   * Otherwise, returns the last fetch. While the provider is down, a fetch that would have to wait
   * for the pause is not started, so that callers fail at once.
   */
  private synchronized CompletableFuture<Void> nextFetch(boolean isPermitted) {
    long now = System.nanoTime();
    long delay = Math.max(0, nextFetchNanos - now);
    if (isPermitted && fetch.isDone() && (delay == 0 || !known.isDown)) {
      nextFetchNanos = now + delay + pauseNanos;
      fetch =
          CompletableFuture.runAsync(
              this::fetch,
              CompletableFuture.delayedExecutor(
                  delay, TimeUnit.NANOSECONDS, ProviderKeys::startThread));
    }
    return fetch;
  }

  private static void startThread(Runnable work) {
    Thread thread = new Thread(work, "key-set");
    thread.setDaemon(true);
    thread.start();
  }

  /** Fetches the key set. Logs why that failed, or which keys of a changed set are unusable. */
  void fetch() {
    long began = System.nanoTime();
    KeySet before = known.keys;
    try {
      KeySet fetched = client.fetch();
      boolean isSame = fetched.equals(before);
      if (!isSame) {
        fetched.warn();
      }
      known = new Known(isSame ? before : fetched, began, false);
    } catch (ConfigurationException e) {
      known = new Known(before, began, true);
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", e.getMessage());
    }
  }
}
