package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.token.SecretTokensTest.requireValid;
import static org.plantstore.adapter.http.token.SecretTokensTest.settings;
import static org.plantstore.adapter.http.token.SecretTokensTest.validation;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** Tests the command {@code token}, and what {@code check} reports about a provider and a token. */
class TokenCommandTest {

  @TempDir Path folder;

  @Test
  void token_contains_what_the_settings_require_and_is_accepted() throws Exception {
    Map<String, Object> settings =
        Map.of(
            "jwt.secret", Tokens.SECRET,
            "jwt.issuer", "https://one https://two",
            "jwt.audience", "plants garden",
            "jwt.required-claims",
                "scope=read scope=write client_id=shop,site c.d=1 c.d=x%20y,z aud=garden");
    String token = token(settings, "--subject=ann", "--claim=client_id=shop", "--claim=a=b=c,%");

    check(settings).token(new ByteArrayInputStream(token.getBytes(UTF_8)));
    Map<?, ?> claims = SignedJwt.parse(token).claims();
    assertEquals("ann", claims.get("sub"));
    assertEquals("https://one", claims.get("iss"));
    assertEquals(List.of("plants", "garden"), claims.get("aud"));
    assertEquals(List.of("1", "x y"), claims.get("c.d"));
    assertEquals(List.of("read", "write"), claims.get("scope"));
    assertEquals("b=c,%", claims.get("a"));
  }

  /** New tokens are signed with the last secret, so that the first one can be removed later. */
  @Test
  void token_is_signed_with_the_last_secret_and_is_valid_for_an_hour_or_the_given_time()
      throws Exception {
    Path file = Files.writeString(folder.resolve("secrets"), "x".repeat(32) + "\n" + Tokens.SECRET);
    Map<String, Integer> minutes = Map.of("--subject=ann", 60, "--minutes=999999", 999_999);
    for (Map.Entry<String, Integer> each : minutes.entrySet()) {
      Duration validity = Duration.ofMinutes(each.getValue());
      Instant before = Instant.now().truncatedTo(ChronoUnit.SECONDS);
      String token = token(Map.of("jwt.secret-file", file), each.getKey());
      Instant after = Instant.now();
      Map<String, Object> last = Map.of("jwt.secret", Tokens.SECRET);
      Instant expires = requireValid(validation(last), token).expires();
      Instant issued = expires.minus(validity);
      assertTrue(!issued.isBefore(before) && !issued.isAfter(after), issued::toString);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jwt.secret   | --minutes=0      | --minutes must be a whole number from 1 to 999999, but is "0"
          jwt.secret   | --claim=scope    | --claim must contain name=value, such as scope=plants.write, but contains "scope"
          jwt.jwks-url | --minutes=1      | JWT_SECRET or JWT_SECRET_FILE must be set, but neither is; if tokens are signed with a key from JWT_JWKS_URL, get a token from the identity provider
          """)
  void invalid_option_or_missing_secret_is_refused(String key, String option, String message) {
    String value = key.equals("jwt.secret") ? Tokens.SECRET : "https://issuer.example/keys";
    assertRefused(message, () -> token(Map.of(key, value), option));
  }

  private static String token(Map<String, Object> settings, String... options) {
    return TokenCommand.token(settings(settings), options);
  }

  @Test
  void message_about_a_provider_without_a_usable_key_says_what_to_check() {
    ECKey key = IdentityProvider.key(Curve.P_256, "key");
    try (IdentityProvider provider = new IdentityProvider(key)) {
      TokenCheck check = check(Map.of("jwt.jwks-url", provider.url()));
      assertEquals("1 usable key", check.provider());
      provider.goDown();
      assertRefused(
          "the response from \""
              + provider.url().getAuthority()
              + "\" has status 500; check JWT_JWKS_URL, and make sure that the provider is working",
          check::provider);
      String unavailable = ErrorNumber.KEYS_UNAVAILABLE.description();
      String token = IdentityProvider.token("key", key);
      assertRefused(unavailable, () -> read(token, check));
    }
  }

  /** The caller receives the same message, but without the expected and the actual value. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"typ":"TYPE"} | "aud":"us"        | The type (typ) of the bearer token does not identify an access token; send an access token. Expected JWT, at+jwt, or JOSE, but found "TYPE".
          {"crit":["a"]} | "aud":"us"        | The bearer token requires extensions (crit), but this service supports none; obtain a token without extensions. Expected none, but found [a].
          {"kid":7}      | "aud":"us"        | The key ID (kid) of the bearer token must be a string; obtain a token whose key ID is a string. Expected a string, but found 7.
          {"alg":"RS1"}  | "aud":"us"        | The algorithm (alg) of the bearer token is not supported; obtain a token that is signed with another algorithm, such as RS256. Expected one of [HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512], but found "RS1".
          {"alg":"HS512"} | "aud":"us"       | This service has no key for the algorithm (alg) and the key ID (kid) of the bearer token; obtain a token from an issuer that this service trusts. Expected an HMAC algorithm for which at least one secret is long enough, but found {alg=HS512}.
          {}             | "aud":"us","exp":0 | The bearer token expired at 1970-01-01T00:00:00Z; obtain a new token. Expected an exp after NOW, but found 1970-01-01T00:00:00Z.
          {}             | "exp":"soon"      | The times in the bearer token (exp and nbf) must be numbers; obtain a token that specifies them in seconds. Expected a number in exp, but found "soon".
          {}             | "exp":null        | The bearer token has no expiration time (exp); obtain a token that has one. Expected an exp after NOW, but found none.
          {}             | "nbf":4102444800  | The bearer token is not valid before 2100-01-01T00:00:00Z; send it after that time, or correct the issuer's clock. Expected an nbf before NOW, but found 2100-01-01T00:00:00Z.
          {}             | "aud":["them",7]  | The audience (aud) of the bearer token does not include this service; obtain a token that is meant for this service. Expected us or we, but found [them, 7].
          {}             | "aud":"us","iss":"x" | This service does not trust the issuer (iss) of the bearer token; obtain a token from this service's identity provider. Expected here, but found "x".
          {}             | "aud":"we"        | The bearer token must contain the claim scope=a; obtain a token with that claim. Expected scope=a, but found none.
          """)
  void check_reports_the_expected_and_the_actual_value_of_a_refused_token(
      String header, String claims, String details) {
    Map<String, Object> settings =
        Map.of(
            "jwt.secret", Tokens.SECRET,
            "jwt.issuer", "here",
            "jwt.audience", "us we",
            "jwt.required-claims", "scope=a");
    String start =
        header.contains("alg") ? "{" : "{\"alg\":\"HS256\"" + (header.equals("{}") ? "" : ",");
    String rest =
        (claims.contains("exp") ? "" : ",\"exp\":4102444800")
            + (claims.contains("iss") ? "" : ",\"iss\":\"here\"");
    String token =
        Tokens.raw(
            header.replaceFirst("\\{", start),
            "{" + claims + rest + "}",
            Tokens.SECRET.getBytes(UTF_8));
    ConfigurationException failure =
        assertThrows(ConfigurationException.class, () -> read(token, check(settings)));
    assertEquals(
        details, String.valueOf(failure.getMessage()).replaceFirst("20\\d\\d-\\S*Z,", "NOW,"));
    RequiredClaimsRule rule = new RequiredClaimsRule(settings(settings));
    RefusedException refusal =
        assertThrows(
            RefusedException.class,
            () -> rule.check(null, requireValid(validation(settings), token)));
    assertEquals(details.replaceFirst(" Expected .*", ""), refusal.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "Bearer TOKEN", "Authorization: bearer TOKEN", "'TOKEN'", "TOKEN=", "{"})
  void input_other_than_a_token_is_not_quoted(String line) {
    String token = Tokens.valid();
    ConfigurationException failure =
        assertThrows(
            ConfigurationException.class,
            () -> read(line.replace("TOKEN", token), check(Map.of("jwt.secret", Tokens.SECRET))));
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.startsWith("The bearer token "), message);
    assertFalse(message.contains(token), message);
  }

  private static String read(String token, TokenCheck check) {
    return check.token(new ByteArrayInputStream(token.getBytes(UTF_8)));
  }

  private static TokenCheck check(Map<String, Object> settings) {
    return new TokenCheck(settings(settings));
  }

  private static void assertRefused(String message, Executable part) {
    assertEquals(message, assertThrows(ConfigurationException.class, part).getMessage());
  }
}
