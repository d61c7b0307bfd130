package org.plantstore.adapter.http.token;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.CachingJWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSetBasedJWKSource;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.SecurityContext;
import java.io.Closeable;
import java.io.IOException;
import java.net.URL;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys of an identity provider. They are fetched when they are first needed, again when a token
 * names a key that is not among them, though not more often than {@link ProviderKeySet} allows, and
 * ahead of the end of the cache time. While the provider is down the keys that are known stay in
 * use; for a key that is not, this source fails instead of answering that there is none. Safe for
 * use by many threads.
 */
final class ProviderKeys implements JWKSource<SecurityContext>, Closeable {

  private final ProviderKeySet keySet;
  private final JWKSetBasedJWKSource<SecurityContext> keys;
  private volatile Cached cached = new Cached(new JWKSet(), Long.MIN_VALUE);

  /**
   * Makes the source, without fetching anything yet.
   *
   * @param keySet the address of the key set
   * @param cacheTime how long a fetched key set is used; in a 60th of that there are two fetches at
   *     most
   */
  ProviderKeys(URL keySet, Duration cacheTime) {
    this.keySet = new ProviderKeySet(keySet, cacheTime.dividedBy(60));
    long cacheMillis = cacheTime.toMillis();
    long refreshMillis = Math.min(ProviderKeySet.TIMEOUT.toMillis() * 2, cacheMillis / 4);
    // The cache counts from when a key was asked for, before the wait and the fetch.
    long atHandMillis = cacheMillis - refreshMillis - ProviderKeySet.TIMEOUT.toMillis();
    this.keys =
        (JWKSetBasedJWKSource<SecurityContext>)
            JWKSourceBuilder.create(this.keySet)
                .cache(cacheMillis, refreshMillis)
                .refreshAheadCache(
                    cacheMillis / 4,
                    false,
                    event -> {
                      if (event
                          instanceof
                          CachingJWKSetSource.RefreshCompletedEvent<SecurityContext> refresh) {
                        cached =
                            new Cached(
                                refresh.getJWKSet(), System.currentTimeMillis() + atHandMillis);
                      }
                    })
                // Its windows come too soon where fetches take long; the key set counts instead.
                .rateLimited(false)
                .outageTolerantForever()
                .build();
  }

  /**
   * Answers the keys that are known now; it is another object as soon as the provider has others.
   */
  JWKSet current() {
    return keySet.lastFetched();
  }

  /** Says whether a key can be had now without waiting for the provider. */
  boolean areAtHand(JWKSelector selector) {
    Cached now = cached;
    return System.currentTimeMillis() < now.untilMillis() && !selector.select(now.keys()).isEmpty();
  }

  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context)
      throws KeySourceException {
    List<JWK> found;
    try {
      found = keys.get(selector, context);
    } catch (KeySourceException e) {
      // Looked for a moment ago, or still being fetched.
      found = selector.select(keySet.lastFetched());
    }
    if (found.isEmpty() && keySet.isDown()) {
      throw new JWKSetUnavailableException("the key set cannot be fetched now");
    }
    return found;
  }

  @Override
  public void close() throws IOException {
    keys.close();
  }

  private record Cached(JWKSet keys, long untilMillis) {}
}
