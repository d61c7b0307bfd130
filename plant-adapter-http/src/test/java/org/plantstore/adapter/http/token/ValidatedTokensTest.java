package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.JWKSet;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValidatedTokensTest {

  private static final TokenKeys.Snapshot KEYS = keys("y".repeat(32));

  private long nowNanos;
  private final ValidatedTokens tokens = new ValidatedTokens(() -> nowNanos);

  @ParameterizedTest
  @CsvSource({"3600, 59, true", "3600, 61, false", "30, 15, true", "30, 31, false", "-1, 0, false"})
  void token_is_remembered_until_it_expires_or_for_a_minute_and_use_does_not_prolong_it(
      int validSeconds, int seconds, boolean isRemembered) {
    add("token", validSeconds);
    for (int second = 0; second < seconds; second++) {
      nowNanos += Duration.ofSeconds(1).toNanos();
      tokens.get("token", KEYS);
    }

    assertEquals(isRemembered, tokens.get("token", KEYS) != null);
  }

  @Test
  void other_token_is_not_known_and_none_when_the_keys_change() {
    add("token", 3_600);

    assertNull(tokens.get("tokens", KEYS));
    assertNull(tokens.get("", KEYS));
    assertNull(tokens.get("token", keys("x".repeat(32))));
    assertNull(tokens.get("token", new TokenKeys.Snapshot(KEYS.secrets(), new JWKSet())));
  }

  @Test
  void tokens_take_a_bounded_space() {
    String largest = "x".repeat(16_000);
    IntStream.range(0, 2_000).forEach(number -> add(number + largest, 3_600));

    long remembered =
        IntStream.range(0, 2_000)
            .filter(number -> tokens.get(number + largest, KEYS) != null)
            .count();

    assertTrue(remembered > 0 && remembered <= 263, "remembered: " + remembered);
  }

  private void add(String token, long validSeconds) {
    tokens.add(token, new ValidToken(Instant.now().plusSeconds(validSeconds), "me"), KEYS);
  }

  private static TokenKeys.Snapshot keys(String secret) {
    return new TokenKeys.Snapshot(SecretKeys.of(secret), null);
  }
}
