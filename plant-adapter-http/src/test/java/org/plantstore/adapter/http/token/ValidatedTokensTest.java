package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValidatedTokensTest {

  private static final Object KEYS = new Object();

  private long nowNanos;
  private final ValidatedTokens tokens = new ValidatedTokens(() -> nowNanos);

  @ParameterizedTest
  @CsvSource({"3600, 59, true", "3600, 61, false", "30, 15, true", "30, 31, false", "-1, 0, false"})
  void token_is_remembered_until_it_expires_or_for_a_minute_and_use_does_not_prolong_it(
      int validSeconds, int seconds, boolean isRemembered) {
    add("token", validSeconds);
    for (int second = 0; second < seconds; second++) {
      nowNanos += Duration.ofSeconds(1).toNanos();
      tokens.contains("token", KEYS);
    }

    assertEquals(isRemembered, tokens.contains("token", KEYS));
  }

  @Test
  void other_token_is_not_known_and_none_when_the_keys_change() {
    add("token", 3_600);

    assertFalse(tokens.contains("tokens", KEYS));
    assertFalse(tokens.contains("", KEYS));
    assertFalse(tokens.contains("token", new Object()));
  }

  @Test
  void tokens_take_a_bounded_space() {
    String largest = "x".repeat(16_000);
    IntStream.range(0, 2_000).forEach(number -> add(number + largest, 3_600));

    long remembered =
        IntStream.range(0, 2_000).filter(number -> tokens.contains(number + largest, KEYS)).count();

    assertTrue(remembered > 0 && remembered <= 263, "remembered: " + remembered);
  }

  private void add(String token, long validSeconds) {
    tokens.add(token, Instant.now().plusSeconds(validSeconds), KEYS);
  }
}
