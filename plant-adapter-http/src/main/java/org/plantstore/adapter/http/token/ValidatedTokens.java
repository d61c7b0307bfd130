package org.plantstore.adapter.http.token;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
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

  private record Validated(String caller, Instant expires, TokenKeys.Snapshot keys) {}

  private final Cache<String, Validated> validated =
      Caffeine.newBuilder()
          .executor(Runnable::run)
          .recordStats()
          .maximumWeight(MAX_CHARACTERS)
          .weigher((String token, Validated value) -> token.length())
          .expireAfterWrite(LIFETIME)
          .build();

  ValidatedTokens(@Nullable MeterRegistry registry) {
    if (registry != null) {
      CaffeineCacheMetrics.monitor(registry, validated, "tokens");
    }
  }

  /** Returns the caller of a token that was found valid with these keys, or null. */
  @Nullable String callerOf(String token, TokenKeys.Snapshot keys) {
    Validated value = validated.getIfPresent(token);
    return value != null && value.keys.equals(keys) && Instant.now().isBefore(value.expires)
        ? value.caller
        : null;
  }

  /** Adds a token that is valid with these keys. */
  void add(String token, String caller, Instant expires, TokenKeys.Snapshot keys) {
    validated.put(token, new Validated(caller, expires, keys));
  }
}
