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
 * A cache of the tokens that were validated within the last minute. Validation costs more than the
 * rest of a request. A change of keys invalidates all tokens. Invalid tokens are not cached, so
 * that they evict no valid ones. Safe for use by many threads.
 */
@Singleton
final class ValidatedTokens {

  private static final Duration LIFETIME = Duration.ofMinutes(1);

  /** One byte each; room for 256 of the largest tokens that fit the head of a request. */
  private static final long MAX_CHARACTERS = 4L * 1024 * 1024;

  private final Cache<String, Validated> validated;

  @Inject
  ValidatedTokens(@Nullable MeterRegistry registry) {
    this(Ticker.systemTicker());
    if (registry != null) {
      CaffeineCacheMetrics.monitor(registry, validated, "tokens");
    }
  }

  ValidatedTokens(Ticker ticker) {
    validated =
        Caffeine.newBuilder()
            .ticker(ticker)
            .executor(Runnable::run)
            .recordStats()
            .maximumWeight(MAX_CHARACTERS)
            .weigher((String token, Validated value) -> token.length())
            .expireAfter(Expiry.creating((String token, Validated value) -> value.lifetime))
            .build();
  }

  /** Returns a token that was found valid with these keys, or null. */
  @Nullable ValidToken get(String token, TokenKeys.Snapshot keys) {
    Validated value = validated.getIfPresent(token);
    return value != null && value.keys.equals(keys) ? value.token : null;
  }

  /** Adds a token that is valid with these keys, unless only the clock skew keeps it valid. */
  void add(String text, ValidToken token, TokenKeys.Snapshot keys) {
    Duration left = Duration.between(Instant.now(), token.expires());
    if (!left.isNegative()) {
      Duration lifetime = left.compareTo(LIFETIME) < 0 ? left : LIFETIME;
      validated.put(text, new Validated(token, keys, lifetime));
    }
  }

  private record Validated(ValidToken token, TokenKeys.Snapshot keys, Duration lifetime) {}
}
