package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.token.SecretTokensTest.requireValid;

import com.nimbusds.jwt.JWTClaimsSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;

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

    JWTClaimsSet claims = requireValid(SettingsOfTokens.validation(settings), token);
    assertEquals("ann", claims.getSubject());
    assertEquals("https://one", claims.getIssuer());
    assertEquals(List.of("plants", "garden"), claims.getAudience());
    assertEquals(List.of("1", "x y"), claims.getStringListClaim("c.d"));
    assertEquals(List.of("read", "write"), claims.getStringListClaim("scope"));
    assertEquals("b=c,%", claims.getStringClaim("a"));
  }

  @ParameterizedTest
  @CsvSource({"'', 60", "--minutes=1, 1", "--minutes=999999, 999999"})
  void token_expires_after_an_hour_unless_asked_for(String option, int minutes) {
    Map<String, Object> settings = Map.of("jwt.secret", Tokens.SECRET);
    Instant before = Instant.now();
    String token = option.isEmpty() ? token(settings) : token(settings, option);
    JWTClaimsSet claims = requireValid(SettingsOfTokens.validation(settings), token);
    Instant expires = claims.getExpirationTime().toInstant();
    Duration longer = Duration.between(before.plus(Duration.ofMinutes(minutes)), expires);
    assertTrue(
        longer.compareTo(Duration.ofSeconds(-1)) > 0 && longer.toSeconds() < 20, longer::toString);
  }

  /** So that the first can be removed. */
  @Test
  void last_secret_of_a_file_signs() throws Exception {
    Path file = Files.writeString(folder.resolve("secrets"), "x".repeat(32) + "\n" + Tokens.SECRET);
    String token = token(Map.of("jwt.secret-file", file));
    requireValid(SettingsOfTokens.validation(Map.of("jwt.secret", Tokens.SECRET)), token);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jwt.secret   | --minutes=0      | --minutes must be a whole number from 1 to 999999, but is "0"
          jwt.secret   | --minutes=1000000 | --minutes must be a whole number from 1 to 999999, but is "1000000"
          jwt.secret   | --claim=scope    | --claim must have claims such as scope=plants.write, but has "scope"
          jwt.secret   | --claim=exp=1    | --claim must not have exp=1, which is a date
          jwt.secret   | --subjekt=ann    | unusable option --subjekt; see plant-store --help
          jwt.jwks-url | --minutes=1      | JWT_SECRET or JWT_SECRET_FILE must be set, but neither is; only the provider of JWT_JWKS_URL can sign its tokens
          """)
  void what_cannot_be_is_refused(String key, String option, String message) {
    String value = key.equals("jwt.secret") ? Tokens.SECRET : "https://issuer.example/keys";
    ConfigurationException refusal =
        assertThrows(ConfigurationException.class, () -> token(Map.of(key, value), option));
    assertEquals(message, refusal.getMessage());
  }

  private static String token(Map<String, ?> settings, String... options) {
    StringWriter output = new StringWriter();
    String[] arguments =
        Stream.concat(settings.entrySet().stream().map(each -> "--" + each), Stream.of(options))
            .toArray(String[]::new);
    int code =
        ToolProvider.findFirst("token")
            .orElseThrow()
            .run(new PrintWriter(output), new PrintWriter(Writer.nullWriter()), arguments);
    assertEquals(0, code);
    return output.toString().strip();
  }
}
