package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ValidatedTokensTest {

  private static final TokenKeys.Snapshot KEYS = keys("y".repeat(32));

  private final ValidatedTokens tokens = new ValidatedTokens(null);

  @Test
  void token_is_remembered_until_it_expires() {
    add("token", 3_600);
    add("expired", -1);

    assertEquals("me", tokens.callerOf("token", KEYS));
    assertNull(tokens.callerOf("expired", KEYS));
  }

  @Test
  void other_token_is_not_known_and_none_when_the_keys_change() {
    add("token", 3_600);

    assertNull(tokens.callerOf("tokens", KEYS));
    assertNull(tokens.callerOf("", KEYS));
    assertNull(tokens.callerOf("token", keys("x".repeat(32))));
    JWK key = IdentityProvider.key(Curve.P_256, "key");
    assertNull(tokens.callerOf("token", new TokenKeys.Snapshot(KEYS.secrets(), new JWKSet(key))));
  }

  @Test
  void tokens_take_a_bounded_space() {
    String largest = "x".repeat(16_000);
    IntStream.range(0, 2_000).forEach(number -> add(number + largest, 3_600));

    long remembered =
        IntStream.range(0, 2_000)
            .filter(number -> tokens.callerOf(number + largest, KEYS) != null)
            .count();

    assertTrue(remembered > 0 && remembered <= 263, "remembered: " + remembered);
  }

  private void add(String token, long validSeconds) {
    tokens.add(token, "me", Instant.now().plusSeconds(validSeconds), KEYS);
  }

  private static TokenKeys.Snapshot keys(String secret) {
    return new TokenKeys.Snapshot(SecretKeys.of(secret), new JWKSet());
  }
}
