package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.token.SecretTokensTest.requireValid;
import static org.plantstore.adapter.http.token.SecretTokensTest.settings;
import static org.plantstore.adapter.http.token.SecretTokensTest.validation;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jwt.JWTClaimsSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.ErrorNumber;

/** The command {@code token}, and what {@code check} reports on a provider and a token. */
class TokenCommandTest {

  @TempDir Path folder;

  @Test
  void token_has_what_the_settings_require_and_is_accepted() throws Exception {
    Map<String, Object> settings =
        Map.of(
            "jwt.secret", Tokens.SECRET,
            "jwt.issuer", "https://one https://two",
            "jwt.audience", "plants garden",
            "jwt.required-claims",
                "scope=read scope=write client_id=shop,site c.d=1 c.d=x%20y,z aud=garden");
    String token = token(settings, "--subject=ann", "--claim=client_id=shop", "--claim=a=b=c,%");

    JWTClaimsSet claims = requireValid(validation(settings), token);
    assertEquals("ann", claims.getSubject());
    assertEquals("https://one", claims.getIssuer());
    assertEquals(List.of("plants", "garden"), claims.getAudience());
    assertEquals(List.of("1", "x y"), claims.getStringListClaim("c.d"));
    assertEquals(List.of("read", "write"), claims.getStringListClaim("scope"));
    assertEquals("b=c,%", claims.getStringClaim("a"));
  }

  /** So that the first can be removed. */
  @Test
  void last_secret_of_a_file_signs_for_an_hour_unless_asked_for_another_time() throws Exception {
    Path file = Files.writeString(folder.resolve("secrets"), "x".repeat(32) + "\n" + Tokens.SECRET);
    Map<String, Integer> minutes = Map.of("--subject=ann", 60, "--minutes=999999", 999_999);
    for (Map.Entry<String, Integer> each : minutes.entrySet()) {
      Instant asked = Instant.now().plus(Duration.ofMinutes(each.getValue()));
      String token = token(Map.of("jwt.secret-file", file), each.getKey());
      Map<String, Object> last = Map.of("jwt.secret", Tokens.SECRET);
      Instant expires = requireValid(validation(last), token).getExpirationTime().toInstant();
      assertTrue(Math.abs(Duration.between(asked, expires).toSeconds()) < 20, expires::toString);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jwt.secret   | --minutes=0      | --minutes must be a whole number from 1 to 999999, but is "0"
          jwt.secret   | --claim=scope    | --claim must have claims such as scope=plants.write, but has "scope"
          jwt.secret   | --claim=exp=1    | --claim must not have exp=1, which is a date
          jwt.jwks-url | --minutes=1      | JWT_SECRET or JWT_SECRET_FILE must be set, but neither is; only the provider of JWT_JWKS_URL can sign its tokens
          """)
  void what_cannot_be_is_refused(String key, String option, String message) {
    String value = key.equals("jwt.secret") ? Tokens.SECRET : "https://issuer.example/keys";
    assertRefused(message, () -> token(Map.of(key, value), option));
  }

  private static String token(Map<String, Object> settings, String... options) {
    return TokenCommand.token(settings(settings), options);
  }

  @Test
  void provider_without_a_usable_key_is_named_with_what_to_check() {
    ECKey key = IdentityProvider.key(Curve.P_256, "key");
    try (IdentityProvider provider = new IdentityProvider(key)) {
      TokenRequirements requirements = check(Map.of("jwt.jwks-url", provider.url()));
      assertEquals("1 usable key, 0 left out", requirements.provider());
      provider.goDown();
      assertRefused(
          "the key set at JWT_JWKS_URL cannot be fetched: \""
              + provider.url().getAuthority()
              + "\" sends no usable key set within 5 s; check the address, the network, the"
              + " certificate and the provider: the status is 500, the Location \"\"",
          requirements::provider);
      String unavailable = ErrorNumber.KEYS_UNAVAILABLE.description();
      assertUnusable(unavailable, IdentityProvider.token("key", key), requirements);
    }
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
          canary                       | "iss":"here"                  | it is no signed JWT in its compact form
          """)
  void refused_token_is_not_quoted_except_its_type(String header, String claims, String reason) {
    TokenRequirements strict =
        check(Map.of("jwt.secret", Tokens.SECRET, "jwt.issuer", "here", "jwt.audience", "us"));
    String audience = claims.contains("aud") ? "" : "\"aud\":\"us\",";
    String payload = "{\"exp\":4102444800," + audience + claims + "}";
    assertUnusable(reason, Tokens.raw(header, payload, Tokens.SECRET.getBytes(UTF_8)), strict);
  }

  private static void assertUnusable(String reason, String token, TokenRequirements check) {
    ByteArrayInputStream input = new ByteArrayInputStream(token.getBytes(UTF_8));
    String message = "the token on standard input cannot be used: " + reason;
    assertRefused(message, () -> check.token(input));
  }

  private static TokenRequirements check(Map<String, Object> settings) {
    return new TokenRequirements(settings(settings));
  }

  private static void assertRefused(String message, Executable part) {
    assertEquals(message, assertThrows(ConfigurationException.class, part).getMessage());
  }
}
