package org.plantstore.adapter.http;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
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
 * names a key that is not among them, though not more often than a rate limit allows, and ahead of
 * the end of the cache time. While the provider is down the keys that are known stay in use; for a
 * key that is not, this source fails instead of answering that there is none. Safe for use by many
 * threads.
 */
final class ProviderKeys implements JWKSource<SecurityContext>, Closeable {

  private final ProviderKeySet keySet;
  private final JWKSetBasedJWKSource<SecurityContext> keys;

  /**
   * Makes the source, without fetching anything yet.
   *
   * @param keySet the address of the key set
   * @param cacheTime how long a fetched key set is used; fetches are a 60th of that apart, in pairs
   */
  ProviderKeys(URL keySet, Duration cacheTime) {
    this.keySet = new ProviderKeySet(keySet);
    long cacheMillis = cacheTime.toMillis();
    this.keys =
        (JWKSetBasedJWKSource<SecurityContext>)
            JWKSourceBuilder.create(this.keySet)
                .cache(
                    cacheMillis, Math.min(ProviderKeySet.TIMEOUT.toMillis() * 2, cacheMillis / 4))
                .refreshAheadCache(cacheMillis / 4, false)
                .rateLimited(cacheMillis / 60)
                .retrying(true)
                .outageTolerantForever()
                .build();
  }

  /**
   * Answers the keys that are known now; it is another object as soon as the provider has others.
   */
  JWKSet current() {
    return keySet.lastFetched();
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
}
