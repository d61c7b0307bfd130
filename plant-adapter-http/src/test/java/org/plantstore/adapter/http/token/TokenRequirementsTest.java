package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;

/** The report on an identity provider and on a token for the command {@code check}. */
class TokenRequirementsTest {

  private static final byte[] SECRET = Tokens.SECRET.getBytes(UTF_8);
  private static final ECKey KEY = IdentityProvider.key(Curve.P_256, "key");

  /** "canary", which the library's parser quotes. */
  private static final String CANARY = "Y2FuYXJ5";

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
  void provider_without_usable_keys_is_named_with_what_to_check() {
    provider.publish("{\"keys\":[{\"kty\":\"unknown\"}]}");
    assertUnfetched(
        "sends no usable key set; check the address and the provider: let the provider sign with an"
            + " RS, PS or ES algorithm; 0 usable keys, 1 left out");

    provider.goDown();
    assertUnfetched(
        "sends no usable key set; check the address and the provider: the status is \"500\"");
    assertRefused(
        "the token on standard input cannot be used: The token cannot be checked now, because no usable"
            + " key of the identity provider is known for it; send the same request again later.",
        () ->
            requirements(Map.of("jwt.jwks-url", provider.url()))
                .token(line(IdentityProvider.token("key", KEY))));

    provider.close();
    assertUnfetched("refuses the connection; check the port and the provider");
  }

  @Test
  void provider_that_cannot_be_reached_is_named_with_what_to_check() throws Exception {
    String label = "x".repeat(64); // longer than a label may be, so that no name server is asked
    assertRefused(
        "the key set at JWT_JWKS_URL cannot be fetched: \""
            + label
            + ".example:80\" is an unknown host; check the name and the DNS",
        requirements(Map.of("jwt.jwks-url", "http://" + label + ".example/keys"))::provider);
    HttpsServer server = HttpsServer.create(new InetSocketAddress("localhost", 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(SSLContext.getDefault())); // no certificate
    server.start();
    String place = "localhost:" + server.getAddress().getPort();
    String message;
    do { // again on a machine that is slower than the time-out
      Executable report = requirements(Map.of("jwt.jwks-url", "https://" + place))::provider;
      message = assertThrows(ConfigurationException.class, report).toString();
    } while (message.contains("sends no whole answer"));
    server.stop(0);
    assertTrue(message.contains(place + "\" fails in TLS; check the certificate and "), message);
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

  @Test
  void what_is_no_token_is_not_told_again() {
    assertRefused(
        "the token on standard input cannot be used: it is no signed JWT in its compact form",
        () -> requirements.token(line(CANARY + "." + CANARY + ".")));
  }

  private static TokenRequirements requirements(Map<String, Object> settings) {
    return new TokenRequirements(SettingsOfTokens.of(settings));
  }

  private static InputStream line(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }

  private void assertUnfetched(String reason) {
    String place = "\"localhost:" + provider.url().getPort() + "\" ";
    assertRefused(
        "the key set at JWT_JWKS_URL cannot be fetched: " + place + reason, requirements::provider);
  }

  private static void assertRefused(String message, Executable part) {
    assertEquals(message, assertThrows(ConfigurationException.class, part).getMessage());
  }
}
