package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the command {@code check} says of an identity provider. */
class TokenCheckTest {

  private static final ECKey KEY = IdentityProvider.key(Curve.P_256, "key");

  private final StringWriter good = new StringWriter();
  private final StringWriter bad = new StringWriter();
  private IdentityProvider provider;

  @BeforeEach
  void start() throws Exception {
    provider = new IdentityProvider(KEY);
  }

  @AfterEach
  void stop() {
    provider.close();
  }

  @Test
  void keys_are_counted_and_their_age_is_told() {
    byte[] keys =
        new JWKSet(List.of(KEY, IdentityProvider.key(Curve.P_384, "other")))
            .toString(true)
            .getBytes(UTF_8);
    provider.answer(exchange -> {
      exchange.getResponseHeaders().set("Age", "30");
      exchange.getResponseHeaders().set("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT");
      IdentityProvider.send(exchange, keys.length, keys);
    });

    assertEquals(0, check("--jwt.issuer=https://issuer.example"));
    assertEquals(
        """
        tokens: signed with a key of JWT_JWKS_URL, of the issuer https://issuer.example, for any audience
        provider: 2 usable keys, 0 left out; cached for 30 s; last changed Mon, 02 Nov 2026 10:00:00 GMT
        """,
        good.toString());
    assertEquals("", bad.toString());
  }

  @Test
  void provider_without_a_usable_key_is_refused() {
    provider.publish("{\"keys\":[{\"kty\":\"unknown\"}]}");

    assertEquals(1, check());
    assertEquals(
        "provider: the key set at JWT_JWKS_URL must have a key that can be used, but all 1 are left"
            + " out\n",
        bad.toString());
  }

  @Test
  void provider_that_is_down_is_named_with_what_to_check() {
    provider.goDown();

    assertEquals(1, check());
    assertEquals(
        "provider: the key set at JWT_JWKS_URL cannot be fetched; check the address, the network"
            + " and the provider: java.io.IOException: the answer has the status 500\n",
        bad.toString());
    assertTrue(good.toString().startsWith("tokens: "), good::toString);
  }

  private int check(String... settings) {
    String[] arguments =
        Stream.concat(Stream.of("--jwt.jwks-url=" + provider.url()), Stream.of(settings))
            .toArray(String[]::new);
    return new TokenCheck().run(new PrintWriter(good, true), new PrintWriter(bad, true), arguments);
  }
}
