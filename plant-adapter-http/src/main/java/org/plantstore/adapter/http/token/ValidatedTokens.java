package org.plantstore.adapter.http.token;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Caches the tokens that were validated within the last minute, because validating a token takes
 * more CPU time than all other processing of a request. Invalid tokens are not cached, so that they
 * cannot evict valid tokens. Safe for use by multiple threads.
 */
@Singleton
final class ValidatedTokens {

  private static final Duration LIFETIME = Duration.ofMinutes(1);

  /**
   * The maximum total length of the cached tokens, which occupy one byte per character. At least
   * 256 tokens fit into 4 MiB, because no token is longer than 16 KiB, the limit on the total size
   * of a request's headers.
   */
  private static final long MAX_CHARACTERS = 4L * 1024 * 1024;

  private final TokenKeys keys;
  private final Cache<String, ValidToken> tokens =
      Caffeine.newBuilder()
          .executor(Runnable::run)
          .recordStats()
          .maximumWeight(MAX_CHARACTERS)
          .weigher((String text, ValidToken token) -> text.length())
          .expireAfterWrite(LIFETIME)
          .build();

  ValidatedTokens(TokenKeys keys, @Nullable MeterRegistry registry) {
    this.keys = keys;
    if (registry != null) {
      CaffeineCacheMetrics.monitor(registry, tokens, "tokens");
    }
  }

  /**
   * Returns the cached token for this text, or null if no such token is cached, if the token has
   * expired, or if any key has changed since the token was validated.
   */
  @Nullable ValidToken get(String text) {
    ValidToken token = tokens.getIfPresent(text);
    return token != null && token.isUsable(keys.current()) ? token : null;
  }

  void add(String text, ValidToken token) {
    tokens.put(text, token);
  }
}
