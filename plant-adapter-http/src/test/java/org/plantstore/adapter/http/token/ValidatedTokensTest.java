package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ValidatedTokensTest {

  private static final Object KEYS = new Object();
  private static final Duration HOUR = Duration.ofHours(1);

  private long nowNanos;
  private final ValidatedTokens tokens = new ValidatedTokens(() -> nowNanos);

  @Test
  void valid_token_is_remembered_for_a_minute_and_use_does_not_prolong_it() {
    add("token", HOUR);
    for (int second = 1; second < 60; second++) {
      pass(Duration.ofSeconds(1));
      assertTrue(tokens.contains("token", KEYS));
    }
    pass(Duration.ofSeconds(2));
    assertFalse(tokens.contains("token", KEYS));
  }

  @Test
  void token_is_forgotten_when_it_expires() {
    add("token", Duration.ofSeconds(30));

    pass(Duration.ofSeconds(15));
    assertTrue(tokens.contains("token", KEYS));
    pass(Duration.ofSeconds(16));
    assertFalse(tokens.contains("token", KEYS));
  }

  @Test
  void token_that_is_valid_only_because_clocks_may_differ_is_not_remembered() {
    add("token", Duration.ofSeconds(-1));

    assertFalse(tokens.contains("token", KEYS));
  }

  @Test
  void token_is_forgotten_when_the_keys_change() {
    add("token", HOUR);

    assertFalse(tokens.contains("token", new Object()));
  }

  @Test
  void other_token_is_not_known() {
    add("token", HOUR);

    assertFalse(tokens.contains("tokens", KEYS));
    assertFalse(tokens.contains("", KEYS));
  }

  @Test
  void tokens_take_a_bounded_space() {
    String largest = "x".repeat(16_000);
    IntStream.range(0, 2_000).forEach(number -> add(number + largest, HOUR));

    long remembered =
        IntStream.range(0, 2_000).filter(number -> tokens.contains(number + largest, KEYS)).count();

    assertTrue(remembered > 0 && remembered <= 263, "remembered: " + remembered);
  }

  private void add(String token, Duration validity) {
    tokens.add(token, Instant.now().plus(validity), KEYS);
  }

  private void pass(Duration duration) {
    nowNanos += duration.toNanos();
  }
}
