package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of an identity provider. While the provider is down, or publishes no usable key, the
 * known keys stay in use, and a search for an unknown key fails. The library's {@code
 * JWKSourceBuilder} refuses a search that exceeds its rate limit; here the search waits for the
 * next fetch, without a thread. Safe for use by many threads.
 */
final class ProviderKeys {

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeys.class);

  /**
   * What is known of the provider, replaced as a whole.
   *
   * @param keys the keys of the last successful fetch
   * @param since when the last fetch began, as a value of {@link System#nanoTime()}
   * @param isDown whether the last fetch has failed, or none has ended yet
   */
  private record Known(KeySet keys, long since, boolean isDown) {}

  private final KeySetClient keySet;
  private final long lifetimeNanos;
  private final long pauseNanos;

  /** Bounds the tokens that wait for a fetch; most of these tokens are forged. */
  private final Semaphore searches;

  private volatile Known known =
      new Known(new KeySet(new JWKSet(), List.of()), System.nanoTime(), true);
  private CompletableFuture<Void> fetch = CompletableFuture.completedFuture(null);
  private long nextFetchNanos = System.nanoTime(); // guarded by this, as the fetch
  private long nextRepetitionNanos = nextFetchNanos; // guarded by this

  /** Keeps a key set for the lifetime. Fetches begin at least a 120th of it apart. */
  ProviderKeys(URI address, Duration lifetime, int maxSearches) {
    keySet = new KeySetClient(address);
    lifetimeNanos = lifetime.toNanos();
    pauseNanos = lifetimeNanos / 120;
    searches = new Semaphore(maxSearches);
  }

  /** Returns the keys that are known now, the same object until there are others. */
  JWKSet current() {
    return known.keys.usable();
  }

  /**
   * Completes when a key is found, or when a fetch has ended that began after this call; completes
   * with RefusedException if the key is unknown while the provider is down. A key that replaces
   * another under the same {@code kid} is fetched at most once in a tenth of the lifetime, because
   * forged tokens cause that too; until then, only the fetch in progress is awaited.
   *
   * @param tried the keys, none of which has signed the token
   * @param withIds runs the fetch, so that its log lines have the ids of the request
   */
  CompletableFuture<Void> search(JWKSelector selector, JWKSet tried, Consumer<Runnable> withIds) {
    long began = System.nanoTime();
    boolean isReplacement = !selector.select(tried).isEmpty();
    BooleanSupplier isFound =
        () -> isReplacement ? !current().equals(tried) : !selector.select(current()).isEmpty();
    CompletableFuture<Void> completed = CompletableFuture.completedFuture(null);
    if (isFound.getAsBoolean()) {
      return completed;
    }
    if (!searches.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    boolean mayFetch = !isReplacement || mayFetchAgain();
    Supplier<CompletableFuture<Void>> next = () -> mayFetch ? nextFetch(withIds) : lastFetch();
    return next.get()
        .thenCompose(ended ->
            isFound.getAsBoolean() || known.isDown || known.since - began >= 0
                ? completed
                : next.get())
        .whenComplete((ended, failure) -> searches.release())
        .thenRun(() -> {
          if (known.isDown && !isReplacement && !isFound.getAsBoolean()) {
            throw new RefusedException(ErrorNumber.KEYS_UNAVAILABLE);
          }
        });
  }

  private synchronized boolean mayFetchAgain() {
    long now = System.nanoTime();
    if (now - nextRepetitionNanos < 0) {
      return false;
    }
    nextRepetitionNanos = Math.max(now, nextFetchNanos) + lifetimeNanos / 10;
    return true;
  }

  private synchronized CompletableFuture<Void> lastFetch() {
    return fetch;
  }

  /** Fetches known keys again at the end of their lifetime, or sooner if the last fetch failed. */
  void renew() {
    Known now = known;
    long patienceNanos = now.isDown ? lifetimeNanos / 10 : lifetimeNanos;
    if (!now.keys.usable().isEmpty() && System.nanoTime() - now.since >= patienceNanos) {
      nextFetch(Runnable::run);
    }
  }

  /**
   * Returns the unfinished fetch, or a new one that begins after the pause. While the provider is
   * down and none may begin now, returns the last fetch, so that callers fail at once.
   */
  private synchronized CompletableFuture<Void> nextFetch(Consumer<Runnable> withIds) {
    long now = System.nanoTime();
    long delay = Math.max(0, nextFetchNanos - now);
    if (fetch.isDone() && (delay == 0 || !known.isDown)) {
      nextFetchNanos = now + delay + pauseNanos;
      fetch =
          CompletableFuture.runAsync(
              () -> withIds.accept(this::fetch),
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

  /** Fetches the key set. Logs the reason of a failure, and the keys that are newly left out. */
  void fetch() {
    long began = System.nanoTime();
    Known before = known;
    try {
      KeySet fetched = keySet.fetch();
      boolean isSame = fetched.equals(before.keys);
      if (!isSame) {
        fetched.warn();
      }
      known = new Known(isSame ? before.keys : fetched, began, false);
    } catch (IOException e) {
      known = new Known(before.keys, began, true);
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", e.getMessage());
    }
  }
}
