package org.plantstore.adapter.http.token;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Remembers for a short time which tokens were found valid, because finding that out costs more
 * than all else about a request. A token is forgotten when it expires, and as soon as the keys
 * change. What was found invalid is not remembered, so it drives nothing out. Safe for use by many
 * threads.
 */
@Singleton
final class ValidatedTokens {

  private static final Duration LIFETIME = Duration.ofMinutes(1);

  /**
   * About that many bytes of tokens, and more than a thousand of the largest that requests have.
   */
  private static final long MAX_CHARACTERS = 4L * 1024 * 1024;

  private final Cache<String, Validation> validations;
  private final Clock clock;

  @Inject
  ValidatedTokens(@Nullable MeterRegistry registry) {
    this(Clock.systemUTC(), Ticker.systemTicker());
    if (registry != null) {
      CaffeineCacheMetrics.monitor(registry, validations, "tokens");
    }
  }

  ValidatedTokens(Clock clock, Ticker ticker) {
    this.clock = clock;
    this.validations =
        Caffeine.newBuilder()
            .ticker(ticker)
            .executor(Runnable::run)
            .recordStats()
            .maximumWeight(MAX_CHARACTERS)
            .weigher((String token, Validation validation) -> token.length())
            .expireAfter(
                Expiry.creating((String token, Validation validation) -> lifetimeOf(validation)))
            .build();
  }

  private Duration lifetimeOf(Validation validation) {
    Duration left = Duration.between(clock.instant(), validation.expires());
    return left.compareTo(LIFETIME) < 0 ? left : LIFETIME;
  }

  /**
   * Returns whether a token was found valid a moment ago.
   *
   * @param token the token
   * @param keys what tokens are checked with now
   */
  boolean contains(String token, Object keys) {
    Validation validation = validations.getIfPresent(token);
    return validation != null && validation.keys() == keys;
  }

  /**
   * Adds a token that was found valid.
   *
   * @param token the token
   * @param expires when it expires
   * @param keys what tokens were checked with when its check began
   */
  void add(String token, Instant expires, Object keys) {
    validations.put(token, new Validation(expires, keys));
  }

  private record Validation(Instant expires, Object keys) {}
}
