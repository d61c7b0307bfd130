package org.plantstore.adapter.http.token;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The tokens that were found valid within the last minute, because validation costs more than all
 * else about a request. A token is forgotten when it expires, and as soon as the keys change.
 * Invalid tokens are not kept, so they evict nothing. Safe for use by many threads.
 */
@Singleton
final class ValidatedTokens {

  private static final Duration LIFETIME = Duration.ofMinutes(1);

  /** As many bytes, and more than a thousand of the largest that fit the head of a request. */
  private static final long MAX_CHARACTERS = 4L * 1024 * 1024;

  /** The keys that each token was checked with. */
  private final Cache<String, Object> keysByToken;

  @Inject
  ValidatedTokens(@Nullable MeterRegistry registry) {
    this(Ticker.systemTicker());
    if (registry != null) {
      CaffeineCacheMetrics.monitor(registry, keysByToken, "tokens");
    }
  }

  ValidatedTokens(Ticker ticker) {
    keysByToken =
        Caffeine.newBuilder()
            .ticker(ticker)
            .executor(Runnable::run)
            .recordStats()
            .maximumWeight(MAX_CHARACTERS)
            .weigher((String token, Object keys) -> token.length())
            .expireAfter(Expiry.creating((String token, Object keys) -> LIFETIME))
            .build();
  }

  /** Returns whether a token was found valid with the same keys a moment ago. */
  @SuppressWarnings("ReferenceEquality") // the same object as long as the keys are the same
  boolean contains(String token, Object keys) {
    return keysByToken.getIfPresent(token) == keys;
  }

  /** Adds a token that was found valid with these keys, unless only the clock skew makes it so. */
  void add(String token, Instant expires, Object keys) {
    Duration left = Duration.between(Instant.now(), expires);
    if (!left.isNegative()) {
      Duration lifetime = left.compareTo(LIFETIME) < 0 ? left : LIFETIME;
      Object unused =
          keysByToken.policy().expireVariably().orElseThrow().put(token, keys, lifetime);
    }
  }
}
