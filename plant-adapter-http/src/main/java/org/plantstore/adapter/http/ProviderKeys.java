package org.plantstore.adapter.http;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSetBasedJWKSource;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.jwk.source.URLBasedJWKSetSource;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import java.io.Closeable;
import java.io.IOException;
import java.net.URL;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of an identity provider. They are fetched when they are first needed, again when a token
 * names a key that is not among them (but not more often than a tenth of the cache time allows),
 * and before the cache time is over. While the provider is down the keys that are known stay in
 * use; for a key that is not, this source fails instead of answering that there is none. Safe for
 * use by many threads.
 */
final class ProviderKeys implements JWKSource<SecurityContext>, Closeable {

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeys.class);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(2);
  private static final int MAX_KEY_SET_BYTES = 256 * 1024;

  private final JWKSetBasedJWKSource<SecurityContext> keys;
  private volatile boolean providerIsDown;

  ProviderKeys(URL keySet, Duration cacheTime) {
    long cacheMillis = cacheTime.toMillis();
    long tenthMillis = cacheMillis / 10;
    this.keys =
        (JWKSetBasedJWKSource<SecurityContext>)
            JWKSourceBuilder.create(new Observed(keySet))
                .cache(cacheMillis, tenthMillis)
                .refreshAheadCache(tenthMillis, false)
                .rateLimited(tenthMillis)
                .retrying(true)
                .outageTolerantForever()
                .build();
  }

  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context)
      throws KeySourceException {
    List<JWK> found;
    try {
      found = keys.get(selector, context);
    } catch (RateLimitReachedException e) {
      // The key was looked for a moment ago.
      found = List.of();
    }
    if (found.isEmpty() && providerIsDown) {
      throw new JWKSetUnavailableException("the key set cannot be fetched now");
    }
    return found;
  }

  @Override
  public void close() throws IOException {
    keys.close();
  }

  /** Fetches the key set, and remembers whether that worked; tolerating outages hides it. */
  private final class Observed implements JWKSetSource<SecurityContext> {

    private final JWKSetSource<SecurityContext> provider;

    Observed(URL keySet) {
      this.provider =
          new URLBasedJWKSetSource<>(
              keySet,
              new DefaultResourceRetriever(
                  (int) CONNECT_TIMEOUT.toMillis(),
                  (int) READ_TIMEOUT.toMillis(),
                  MAX_KEY_SET_BYTES));
    }

    @Override
    public JWKSet getJWKSet(
        JWKSetCacheRefreshEvaluator refreshEvaluator,
        long currentTime,
        @Nullable SecurityContext context)
        throws KeySourceException {
      try {
        JWKSet fetched = provider.getJWKSet(refreshEvaluator, currentTime, context);
        providerIsDown = false;
        return fetched;
      } catch (KeySourceException e) {
        providerIsDown = true;
        LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", e.getMessage());
        throw e;
      }
    }

    @Override
    public void close() throws IOException {
      provider.close();
    }
  }
}
