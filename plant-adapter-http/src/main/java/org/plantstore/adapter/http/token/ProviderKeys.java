package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds an identity provider's public keys. A single thread fetches the keys at a limited rate.
 * While the provider is down or publishes no usable key, the known keys remain in use, and a search
 * for an unknown key fails. A search that exceeds the rate limit waits for the next permitted
 * fetch. The Nimbus class {@code JWKSourceBuilder} is not used, because its key sources throw an
 * exception if a search exceeds the rate limit. Safe for use by multiple threads.
 */
final class ProviderKeys {

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeys.class);

  /**
   * The known keys, and the time and outcome of the last fetch. Each fetch replaces the entire
   * record, so that other threads never see a mixture of old and new components.
   *
   * @param keys the keys from the last successful fetch
   * @param since the {@link System#nanoTime()} at the start of the fetch or, if the fetch failed,
   *     at its end
   * @param isDown true if the last fetch failed, or if no fetch has ended yet
   */
  private record Known(KeySet keys, long since, boolean isDown) {}

  private final KeySetClient client;
  private final Executor thread = BoundedPool.of("key-set", 1);
  private final long lifetimeNanos;
  private final long pauseNanos;

  private volatile Known known = new Known(KeySet.EMPTY, System.nanoTime(), true);

  // No fetch is permitted before nextFetchNanos. A fetch that looks for a replacement key is also
  // not permitted before nextRepetitionNanos. Only the thread that fetches the keys uses these
  // fields.
  private long nextFetchNanos = System.nanoTime();
  private long nextRepetitionNanos = nextFetchNanos;

  /**
   * Creates an instance that fetches the keys again when their lifetime ends. The interval between
   * the starts of two consecutive fetches is at least 1/120 of the lifetime.
   */
  ProviderKeys(KeySetClient client, Duration lifetime) {
    this.client = client;
    lifetimeNanos = lifetime.toNanos();
    pauseNanos = lifetimeNanos / 120;
  }

  /** Returns the known keys. Until the keys change, each call returns the same object. */
  JWKSet current() {
    return known.keys.usable();
  }

  /**
   * Searches for a key that matches the selector but is not one of the keys already tried. The
   * returned future completes as soon as the key is known, or at the latest when the first fetch
   * that begins after this call has ended. The future completes earlier if a fetch that is already
   * in progress fails, or if the provider is down and no fetch is permitted yet. If the provider is
   * down and no matching key is known, the future fails with a RefusedException.
   *
   * <p>If the selector matches one of the keys already tried, either the token is forged, or the
   * provider has published a replacement key that also matches the selector. The search for a
   * replacement key succeeds as soon as the known keys differ from {@code tried}. Fetches that look
   * for a replacement key are at least a tenth of the keys' lifetime apart, so that forged tokens
   * cannot cause many fetches. If the last fetch that looked for a replacement key is too recent,
   * the search ends without a fetch.
   *
   * @param tried the known keys, none of which verified the token's signature
   * @throws RefusedException with the error {@code OVERLOADED} if too many tokens are waiting for a
   *     fetch
   */
  CompletableFuture<Void> search(JWKSelector selector, JWKSet tried) {
    long began = System.nanoTime();
    boolean isReplacement = !selector.select(tried).isEmpty();
    BooleanSupplier isFound =
        () -> isReplacement ? !current().equals(tried) : !selector.select(current()).isEmpty();
    if (isFound.getAsBoolean()) {
      return CompletableFuture.completedFuture(null);
    }
    return CompletableFuture.runAsync(
        () -> {
          if (!isFound.getAsBoolean() && known.since - began < 0) {
            fetch(isReplacement);
          }
          if (known.isDown && !isReplacement && !isFound.getAsBoolean()) {
            throw new RefusedException(ErrorNumber.KEYS_UNAVAILABLE);
          }
        },
        thread);
  }

  /**
   * Starts a fetch if the keys' lifetime has passed since the last fetch. After a failed fetch,
   * only a tenth of the lifetime must pass before this method starts another fetch. Before the
   * first successful fetch, this method does nothing.
   */
  void renew() {
    if (isDue()) {
      try {
        thread.execute(() -> {
          if (isDue()) { // unless another call to this method has already started a fetch
            fetch(false);
          }
        });
      } catch (RefusedException e) {
        // Too many searches are waiting. The next call to this method tries again.
      }
    }
  }

  private boolean isDue() {
    Known now = known;
    long intervalNanos = now.isDown ? lifetimeNanos / 10 : lifetimeNanos;
    return !now.keys.usable().isEmpty() && System.nanoTime() - now.since >= intervalNanos;
  }

  /**
   * Waits until the next fetch is permitted, and then fetches the key set. If the provider is down
   * and no fetch is permitted yet, this method returns without waiting, so that searches fail
   * immediately.
   */
  private void fetch(boolean isReplacement) {
    long now = System.nanoTime();
    long delay = nextFetchNanos - now;
    boolean isTooEarly = isReplacement && now - nextRepetitionNanos < 0;
    if (isTooEarly || (known.isDown && delay > 0)) {
      return;
    }
    for (; delay > 0; delay = nextFetchNanos - System.nanoTime()) {
      LockSupport.parkNanos(delay); // the loop is necessary, because parkNanos may return early
    }
    nextFetchNanos = System.nanoTime() + pauseNanos;
    if (isReplacement) {
      nextRepetitionNanos = System.nanoTime() + lifetimeNanos / 10;
    }
    fetch();
  }

  /** Fetches the key set. Logs the failure of a fetch, and the unusable keys of a new key set. */
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
      known = new Known(before, System.nanoTime(), true);
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", e.getMessage());
    }
  }
}
