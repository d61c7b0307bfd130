package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayInputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;

/** The report on an identity provider and on a token for the command {@code check}. */
class TokenRequirementsTest {

  private static final ECKey KEY = IdentityProvider.key(Curve.P_256, "key");

  /** "canary", which the library's parser quotes. */
  private static final String CANARY = "Y2FuYXJ5";

  @AutoClose private final IdentityProvider provider = new IdentityProvider(KEY);
  private final TokenRequirements requirements =
      new TokenRequirements(new TokenSettings(null, provider.keySetUrl(), "https://issuer", null));

  @Test
  void issuer_and_audience_are_told() {
    assertEquals(
        "signed by a key at JWT_JWKS_URL; issuer https://issuer; any audience",
        requirements.settings().toString());
  }

  @Test
  void keys_are_counted() {
    provider.publish(KEY, IdentityProvider.key(Curve.P_384, "other"));

    assertEquals("2 usable keys, 0 left out", requirements.provider());

    provider.publish(KEY);

    assertEquals("1 usable key, 0 left out", requirements.provider());
  }

  @Test
  void provider_without_a_usable_key_is_refused() {
    provider.publish("{\"keys\":[{\"kty\":\"unknown\"}]}");

    assertRefused(
        "no key at JWT_JWKS_URL is usable; let the provider sign with an RS, PS or ES algorithm",
        requirements::provider);
  }

  @Test
  void provider_that_is_down_is_named_with_what_to_check() throws Exception {
    provider.goDown();

    assertRefused(
        "the key set at JWT_JWKS_URL cannot be fetched; check the address, the network and the"
            + " provider: the answer has the status 500",
        requirements::provider);
    String header = "{\"alg\":\"ES256\",\"kid\":\"key\"}";
    ByteArrayInputStream token =
        new ByteArrayInputStream(
            Tokens.signed(header, "ES256", new ECDSASigner(KEY)).getBytes(UTF_8));
    assertRefused(
        "the token on standard input cannot be checked: the key set at JWT_JWKS_URL is unavailable",
        () -> requirements.token(token));
  }

  @Test
  void expiry_of_a_valid_token_is_told() {
    byte[] secret = Tokens.SECRET.getBytes(UTF_8);
    TokenRequirements ofSecret = new TokenRequirements(new TokenSettings(secret, null, null, null));
    byte[] line = (Tokens.valid() + "\n").getBytes(UTF_8);

    assertEquals(
        "valid until 2100-01-01T00:00:00Z", ofSecret.token(new ByteArrayInputStream(line)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"alg":"HS256","typ":"TYPE"} | "iss":"here"                  | JOSE header typ (type) TYPE not allowed
          {"alg":"HS256"}              | "iss":"canary"                | JWT iss claim value rejected
          {"alg":"HS256"}              | "iss":"here","aud":"canary"   | JWT aud claim rejected
          {"alg":"HS256"}              | "iss":"here","nbf":4102444800 | JWT before use time
          {"alg":"HS256","crit":["b"]} | "iss":"here"                  | it has a crit header
          """)
  void refused_token_is_not_quoted_except_its_type(String header, String claims, String reason) {
    byte[] secret = Tokens.SECRET.getBytes(UTF_8);
    TokenRequirements strict = new TokenRequirements(new TokenSettings(secret, null, "here", "us"));
    String audience = claims.contains("aud") ? "" : "\"aud\":\"us\",";
    String token = Tokens.raw(header, "{\"exp\":4102444800," + audience + claims + "}", secret);

    assertRefused(
        "the token on standard input is invalid; obtain a new token: " + reason,
        () -> strict.token(new ByteArrayInputStream(token.getBytes(UTF_8))));
  }

  @Test
  void what_is_no_token_is_not_told_again() {
    assertRefused(
        "the token on standard input is invalid; obtain a new token: it is no signed JWT",
        () ->
            requirements.token(
                new ByteArrayInputStream((CANARY + "." + CANARY + ".").getBytes(UTF_8))));
  }

  private static void assertRefused(String message, Executable part) {
    assertEquals(message, assertThrows(ConfigurationException.class, part).getMessage());
  }
}
