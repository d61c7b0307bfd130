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
 * the known keys remain in use, and a search for an unknown key fails. {@code JWKSourceBuilder} of
 * Nimbus would refuse searches beyond its rate limit and block their threads; here they wait for
 * the next permitted fetch, without a thread. Safe for use by many threads.
 */
final class ProviderKeys {

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeys.class);

  /**
   * The result of the last fetch, replaced as a whole.
   *
   * @param keys the keys of the last successful fetch
   * @param began when the last fetch began, as a value of {@link System#nanoTime()}
   * @param isDown whether the last fetch failed, or none has ended yet
   */
  private record Known(KeySet keys, long began, boolean isDown) {}

  private final KeySetClient client;
  private final long lifetimeNanos;
  private final long pauseNanos;

  /** Limits the tokens that wait for a fetch, most of which are forged. */
  private final Semaphore searches;

  private volatile Known known = new Known(KeySet.EMPTY, System.nanoTime(), true);

  // Guarded by this.
  private CompletableFuture<Void> fetch = CompletableFuture.completedFuture(null);
  private long nextFetchNanos = System.nanoTime();
  private long nextRepetitionNanos = nextFetchNanos;

  /** Fetches a key set again after its lifetime. Fetches begin at least a 120th of it apart. */
  ProviderKeys(URI address, Duration lifetime, int maxSearches) {
    client = new KeySetClient(address);
    lifetimeNanos = lifetime.toNanos();
    pauseNanos = lifetimeNanos / 120;
    searches = new Semaphore(maxSearches);
  }

  /** Returns the known keys, the same object until they change. */
  JWKSet current() {
    return known.keys.usable();
  }

  /**
   * Completes when a key is found, or when a fetch has ended that began after this call. Completes
   * with RefusedException if the key is unknown while the provider is down.
   *
   * <p>If a tried key could have signed the token, the provider may have replaced it under the same
   * {@code kid}. Because forged tokens look the same, such a search causes a fetch at most once in
   * a tenth of the lifetime, and otherwise only awaits a fetch in progress.
   *
   * @param tried the keys, none of which has signed the token
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

  /** Returns whether a fetch for the sake of a replaced key is permitted, at most once. */
  private synchronized boolean mayRepeat() {
    long now = System.nanoTime();
    if (now - nextRepetitionNanos < 0) {
      return false;
    }
    nextRepetitionNanos = Math.max(now, nextFetchNanos) + lifetimeNanos / 10;
    return true;
  }

  /** Fetches known keys again after their lifetime, or sooner if the last fetch failed. */
  void renew() {
    Known now = known;
    long patienceNanos = now.isDown ? lifetimeNanos / 10 : lifetimeNanos;
    if (!now.keys.usable().isEmpty() && System.nanoTime() - now.began >= patienceNanos) {
      nextFetch(true);
    }
  }

  /**
   * Returns the unfinished fetch, or a new one that begins after the pause if one is permitted.
   * Otherwise, or while the provider is down and none may begin now, returns the last fetch, so
   * that callers fail at once.
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

  /** Fetches the key set. Logs why a fetch failed, and which keys are newly left out. */
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
