package org.plantstore.adapter.http.token;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.SecurityContext;
import java.net.URL;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/**
 * The keys of an identity provider. While the provider is down the known keys stay in use, and a
 * search for an unknown key fails. Safe for use by many threads.
 */
final class ProviderKeys implements JWKSource<SecurityContext> {

  private final ProviderKeySet keySet;
  private final JWKSource<SecurityContext> keys;

  /** Bounds the threads that wait for an unknown key; most of their tokens are forged. */
  private final Semaphore searches;

  /** At most one token with a known key waits for a renewal; others use the known key. */
  private final Semaphore renewals = new Semaphore(1);

  /** Keeps a key set for the lifetime; about two fetches may begin in a 60th of it. */
  ProviderKeys(URL url, Duration lifetime, int maxSearches, ExecutorService executor) {
    long lifetimeMillis = lifetime.toMillis();
    this.keySet = new ProviderKeySet(url);
    this.searches = new Semaphore(maxSearches);
    this.keys =
        JWKSourceBuilder.create(keySet)
            .cache(lifetimeMillis, Math.min(ProviderKeySet.TIMEOUT.toMillis(), lifetimeMillis / 2))
            .refreshAheadCache(lifetimeMillis / 4, null, executor, false, null, false)
            .rateLimited(lifetimeMillis / 60)
            .outageTolerantForever()
            .build();
  }

  /** Returns the keys that are known now, the same object until the provider has others. */
  Object current() {
    return keySet.known();
  }

  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context)
      throws KeySourceException {
    List<JWK> known = selector.select(keySet.known());
    Semaphore permits = known.isEmpty() ? searches : renewals;
    if (!permits.tryAcquire()) {
      if (known.isEmpty()) {
        throw new RefusedException(ErrorNumber.OVERLOADED);
      }
      return known;
    }
    List<JWK> found;
    try {
      found = keys.get(selector, context);
    } catch (KeySourceException e) {
      found = selector.select(keySet.known());
      // A rate-limited search follows another that was made a moment ago.
      if (found.isEmpty() && !(e instanceof RateLimitReachedException)) {
        throw e;
      }
    } finally {
      permits.release();
    }
    if (found.isEmpty() && keySet.isDown()) {
      throw new JWKSetUnavailableException("the key set cannot be fetched now");
    }
    return found;
  }
}
