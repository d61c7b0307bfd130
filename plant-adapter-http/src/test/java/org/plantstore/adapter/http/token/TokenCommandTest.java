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

/** The command {@code token}, and what {@code check} reports on a provider and a token. */
class TokenCommandTest {

  private static final String UNUSABLE = "the token on standard input cannot be used: ";

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

    check(settings).token(new ByteArrayInputStream(token.getBytes(UTF_8)));
    Map<?, ?> claims = SignedJwt.parse(token).claims();
    assertEquals("ann", claims.get("sub"));
    assertEquals("https://one", claims.get("iss"));
    assertEquals(List.of("plants", "garden"), claims.get("aud"));
    assertEquals(List.of("1", "x y"), claims.get("c.d"));
    assertEquals(List.of("read", "write"), claims.get("scope"));
    assertEquals("b=c,%", claims.get("a"));
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
      Instant expires = requireValid(validation(last), token).expires();
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
      TokenCheck requirements = check(Map.of("jwt.jwks-url", provider.url()));
      assertEquals("1 usable key, 0 left out", requirements.provider());
      provider.goDown();
      assertRefused(
          "\""
              + provider.url().getAuthority()
              + "\" sends no usable key set within 5 s; check JWT_JWKS_URL, the network, the"
              + " certificate and the provider: the status is 500, the Location \"\"",
          requirements::provider);
      String unavailable = ErrorNumber.KEYS_UNAVAILABLE.description();
      String token = IdentityProvider.token("key", key);
      assertRefused(UNUSABLE + unavailable, () -> read(token, requirements));
    }
  }

  /** The caller gets the message without what was expected and found. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"typ":"TYPE"} | "aud":"us"        | The type (typ) of the bearer token is not that of an access token; send an access token. Expected JWT, at+jwt or JOSE, found "TYPE".
          {"crit":["a"]} | "aud":"us"        | The bearer token demands extensions (crit), of which this service supports none; obtain a token without them. Expected none, found [a].
          {"kid":7}      | "aud":"us"        | The key ID (kid) of the bearer token must be a string; obtain a token in which it is. Expected a string, found 7.
          {"alg":"RS1"}  | "aud":"us"        | The algorithm (alg) of the bearer token is not supported; obtain one that is signed with another algorithm. Expected one of [HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512], found "RS1".
          {"alg":"HS512"} | "aud":"us"       | This service has no key for the algorithm (alg) and the key ID (kid) of the bearer token; obtain a token from an issuer that the service trusts. Expected 1 secret of sufficient length, found {alg=HS512}.
          {}             | "aud":"us","exp":0 | The bearer token expired at 1970-01-01T00:00:00Z; obtain a new one. Expected an exp after NOW, found 1970-01-01T00:00:00Z.
          {}             | "exp":"soon"      | The times (exp and nbf) of the bearer token must be numbers of seconds; obtain a token in which they are. Expected a number in exp, found "soon".
          {}             | "exp":null        | The bearer token has no expiration time (exp); obtain a token that has one. Expected an exp after NOW, found none.
          {}             | "nbf":4102444800  | The bearer token is not valid before 2100-01-01T00:00:00Z; send it after that time, or correct the clock of its issuer. Expected an nbf before NOW, found 2100-01-01T00:00:00Z.
          {}             | "nbf":1795902982000 | The start time (nbf) of the bearer token is after the year 9999; its issuer must write it in seconds, not in milliseconds. Expected an nbf in seconds, found 1795902982000.
          {}             | "aud":["them",7]  | The audience (aud) of the bearer token does not include this service; obtain a token for the audience of this service. Expected us or we, found [them, 7].
          {}             | "aud":"us","iss":"x" | The issuer (iss) of the bearer token is not one that this service trusts; obtain a token from the identity provider of this service. Expected here, found "x".
          {}             | "aud":"we"        | The bearer token must have scope=a; obtain one that has it. Expected scope=a, found none.
          """)
  void refused_token_is_compared_with_what_is_expected(
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
        UNUSABLE + details,
        String.valueOf(failure.getMessage()).replaceFirst("20\\d\\d-\\S*Z,", "NOW,"));
    RequiredClaimsRule rule = new RequiredClaimsRule(settings(settings));
    RefusedException refusal =
        assertThrows(
            RefusedException.class, () -> rule.require(requireValid(validation(settings), token)));
    assertEquals(details.replaceFirst(" Expected .*", ""), refusal.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "Bearer TOKEN", "Authorization: bearer TOKEN", "'TOKEN'", "TOKEN=", "{"})
  void what_is_no_token_is_not_quoted(String line) {
    String token = Tokens.valid();
    ConfigurationException failure =
        assertThrows(
            ConfigurationException.class,
            () -> read(line.replace("TOKEN", token), check(Map.of("jwt.secret", Tokens.SECRET))));
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.startsWith(UNUSABLE + "The bearer token "), message);
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
