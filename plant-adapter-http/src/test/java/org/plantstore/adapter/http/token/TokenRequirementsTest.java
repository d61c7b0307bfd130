package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.ErrorNumber;

/** The report on an identity provider and on a token for the command {@code check}. */
class TokenRequirementsTest {

  private static final byte[] SECRET = Tokens.SECRET.getBytes(UTF_8);
  private static final ECKey KEY = IdentityProvider.key(Curve.P_256, "key");

  @AutoClose private final IdentityProvider provider = new IdentityProvider(KEY);
  private final TokenRequirements requirements =
      requirements(Map.of("jwt.jwks-url", provider.url(), "jwt.issuer", "https://issuer"));

  @Test
  void keys_issuer_and_audience_are_told() {
    assertEquals("1 usable key, 0 left out", requirements.provider());
    assertEquals(
        "signed by a key of JWT_JWKS_URL; issuer https://issuer; any audience",
        requirements.settings().toString());
  }

  @Test
  void provider_that_sends_no_usable_key_is_named_with_what_to_check() {
    provider.publish("{\"keys\":[{\"kty\":\"unknown\"}]}");
    assertUnfetched(provider.url(), "it has no usable key, 1 left out");
    provider.goDown();
    assertUnfetched(provider.url(), "the status is 500, the Location \"\"");
    assertRefused(
        "the token on standard input cannot be used: " + ErrorNumber.KEYS_UNAVAILABLE.description(),
        () ->
            requirements(Map.of("jwt.jwks-url", provider.url()))
                .token(line(IdentityProvider.token("key", KEY))));
    provider.close();
    assertUnfetched(provider.url(), "ClosedChannelException");
    // Longer than a label may be, so that no name server is asked.
    assertUnfetched(
        URI.create("http://" + "x".repeat(64) + ".example:80/keys"), "UnresolvedAddressException");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"alg":"HS256","typ":"TYPE"} | "iss":"here"                  | its typ must be JWT, at+jwt or JOSE, but is "TYPE"
          {"alg":"HS256"}              | "iss":"canary"                | its iss is not in JWT_ISSUER
          {"alg":"HS256"}              | "iss":"here","aud":"canary"   | its aud is not in JWT_AUDIENCE
          {"alg":"HS256"}              | "iss":"here","nbf":4102444800 | it is not valid before its nbf
          {"alg":"HS256","crit":["b"]} | "iss":"here"                  | it has a crit header
          canary                       | "iss":"here"                  | it is no signed JWT in its compact form
          """)
  void refused_token_is_not_quoted_except_its_type(String header, String claims, String reason) {
    TokenRequirements strict =
        requirements(
            Map.of("jwt.secret", Tokens.SECRET, "jwt.issuer", "here", "jwt.audience", "us"));
    String audience = claims.contains("aud") ? "" : "\"aud\":\"us\",";
    String token = Tokens.raw(header, "{\"exp\":4102444800," + audience + claims + "}", SECRET);

    assertRefused(
        "the token on standard input cannot be used: " + reason, () -> strict.token(line(token)));
  }

  private static TokenRequirements requirements(Map<String, Object> settings) {
    return new TokenRequirements(SettingsOfTokens.of(settings));
  }

  private static InputStream line(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }

  private static void assertUnfetched(URI address, String reason) {
    assertRefused(
        "the key set at JWT_JWKS_URL cannot be fetched: \""
            + address.getAuthority()
            + "\" sends no usable key set within 5 s; check the address, the network, the certificate"
            + " and the provider: "
            + reason,
        requirements(Map.of("jwt.jwks-url", address))::provider);
  }

  private static void assertRefused(String message, Executable part) {
    assertEquals(message, assertThrows(ConfigurationException.class, part).getMessage());
  }
}
