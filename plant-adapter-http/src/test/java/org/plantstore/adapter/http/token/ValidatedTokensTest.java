package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ValidatedTokensTest {

  private static final Object KEYS = new Object();

  private final TestClock clock = new TestClock();
  private final ValidatedTokens tokens = new ValidatedTokens(clock, clock::nanos);

  @Test
  void valid_token_is_remembered_for_a_minute() {
    tokens.add("token", in(Duration.ofHours(1)), KEYS);

    clock.pass(Duration.ofSeconds(59));
    assertTrue(tokens.contains("token", KEYS));
    clock.pass(Duration.ofSeconds(2));
    assertFalse(tokens.contains("token", KEYS));
  }

  @Test
  void use_does_not_prolong_it() {
    tokens.add("token", in(Duration.ofHours(1)), KEYS);
    for (int second = 0; second < 61; second++) {
      clock.pass(Duration.ofSeconds(1));
      tokens.contains("token", KEYS);
    }

    assertFalse(tokens.contains("token", KEYS));
  }

  @Test
  void token_is_forgotten_when_it_expires() {
    tokens.add("token", in(Duration.ofSeconds(10)), KEYS);

    clock.pass(Duration.ofSeconds(9));
    assertTrue(tokens.contains("token", KEYS));
    clock.pass(Duration.ofSeconds(2));
    assertFalse(tokens.contains("token", KEYS));
  }

  @Test
  void token_that_is_valid_only_because_clocks_may_differ_is_not_remembered() {
    tokens.add("token", in(Duration.ofSeconds(-1)), KEYS);

    assertFalse(tokens.contains("token", KEYS));
  }

  @Test
  void token_is_forgotten_when_the_keys_change() {
    tokens.add("token", in(Duration.ofHours(1)), KEYS);

    assertFalse(tokens.contains("token", new Object()));
  }

  @Test
  void other_token_is_not_known() {
    tokens.add("token", in(Duration.ofHours(1)), KEYS);

    assertFalse(tokens.contains("tokens", KEYS));
  }

  @Test
  void tokens_take_a_bounded_space() {
    String largest = "x".repeat(16_000);
    IntStream.range(0, 2_000)
        .forEach(number -> tokens.add(number + largest, in(Duration.ofHours(1)), KEYS));

    long remembered =
        IntStream.range(0, 2_000).filter(number -> tokens.contains(number + largest, KEYS)).count();

    assertTrue(remembered > 0 && remembered <= 263, "remembered: " + remembered);
  }

  private Instant in(Duration duration) {
    return clock.instant().plus(duration);
  }

  private static final class TestClock extends Clock {

    private Instant now = Instant.parse("2030-01-01T00:00:00Z");

    void pass(Duration duration) {
      now = now.plus(duration);
    }

    long nanos() {
      return Duration.between(Instant.EPOCH, now).toNanos();
    }

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}
