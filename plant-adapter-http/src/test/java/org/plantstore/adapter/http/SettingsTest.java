package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.tls.TestCertificate;
import org.plantstore.adapter.http.token.TokenSettings;

/** Unusable settings, each of which prevents the start. */
class SettingsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          jwt.secret   |                             | one of JWT_SECRET and JWT_JWKS_URL must be set, but none is
          jwt.jwks-url | https://issuer.example/keys | one of JWT_SECRET and JWT_JWKS_URL must be set, but both are
          jwt.secret   | \u00E9\u00E9\u00E9\u00E9\u00E9 | JWT_SECRET must have at least 32 bytes, but has 10
          jwt.secret   | ''                          | JWT_SECRET must have a value or not be set, but is empty
          jwt.secret   | ${no.such:placeholder}      | JWT_SECRET must have at least 32 bytes, but has 22
          jwt.issuer   | ''                          | JWT_ISSUER must have a value or not be set, but is empty
          jwt.audience | ''                          | JWT_AUDIENCE must have a value or not be set, but is empty
          """)
  void unusable_setting_of_tokens_is_refused(
      String property, @Nullable String value, String message) {
    Map<String, Object> settings = new HashMap<>(Map.of("jwt.secret", Tokens.SECRET));
    settings.put(property, value);
    settings.values().removeIf(Objects::isNull);
    assertRefused(settings, message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "issuer.example/keys",
        "file:///etc/keys",
        "https:///keys",
        "ht tp://x",
        "https://me:password@issuer.example/keys"
      })
  void key_set_is_fetched_over_http_only(String url) {
    assertRefused(
        Map.of("jwt.jwks-url", url),
        "JWT_JWKS_URL must be an absolute http or https URL without a user or a password");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1MB", "", "1000000000", "1.5"})
  void limits_are_positive_numbers(String value) {
    for (String variable :
        List.of(
            "MAX_BODY_BYTES", "MAX_CONCURRENT_CREATES",
            "MAX_CONNECTIONS", "REQUEST_TIMEOUT_SECONDS")) {
      String property = variable.toLowerCase(Locale.ROOT).replace('_', '.');
      assertRefused(
          Map.of("jwt.secret", Tokens.SECRET, property, value),
          variable + " must be a whole number from 1 to 999999999, but is \"" + value + '"');
    }
  }

  @Test
  void a_third_of_the_connections_is_open_over_tls_unless_that_is_set() {
    long plain = maxConnections(Map.of());
    assertEquals(plain / 3, maxConnections(TestCertificate.settings()));
    Map<String, String> chosen = new HashMap<>(TestCertificate.settings());
    chosen.put("max.connections", "77");
    assertEquals(77, maxConnections(chosen));
  }

  private static long maxConnections(Map<String, String> settings) {
    Map<String, Object> withSecret = new HashMap<>(settings);
    withSecret.put("jwt.secret", Tokens.SECRET);
    try (ApplicationContext context = ApplicationContext.run(withSecret)) {
      return context.getRequiredProperty("max.connections", Long.class);
    }
  }

  @Test
  void more_connections_than_open_files_allow_are_refused() {
    assertRefused(
        Map.of("jwt.secret", Tokens.SECRET, "max.connections", "999999999"),
        "MAX_CONNECTIONS must be at most "
            + HttpRequirements.maxConnections()
            + ", because only "
            + HttpRequirements.maxOpenFiles()
            + " files can be open (ulimit -n), but is 999999999");
  }

  @Test
  void settings_as_text_do_not_tell_the_secret() {
    try (ApplicationContext context = ApplicationContext.run(Map.of("jwt.secret", Tokens.SECRET))) {
      TokenSettings settings = TokenSettings.of(context.getEnvironment());
      assertFalse(settings.toString().contains(Tokens.SECRET), settings.toString());
      assertFalse(
          settings.toString().contains(Arrays.toString(settings.secret())), settings.toString());
    }
  }

  private static void assertRefused(Map<String, Object> settings, String message) {
    ConfigurationException refusal =
        assertThrows(ConfigurationException.class, () -> ApplicationContext.run(settings).close());
    assertEquals(message, refusal.getMessage());
  }
}
