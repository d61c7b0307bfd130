package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
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

    assertUnfetched(
        "sends no usable key set; check the address and the provider: let the provider sign with an"
            + " RS, PS or ES algorithm; 0 usable keys, 1 left out; keys[0]: Unsupported key type"
            + " \"kty\" parameter: unknown",
        requirements::provider);
  }

  @Test
  void provider_that_cannot_be_reached_is_named_with_what_to_check() throws Exception {
    String label = "x".repeat(64); // longer than a label may be, so that no name server is asked
    assertRefused(
        "the key set at JWT_JWKS_URL cannot be fetched: \""
            + label
            + ".example:80\" is an unknown host; check the name and the DNS",
        () -> report("http://" + label + ".example/keys"));
    try (ServerSocket plain = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      new Thread(() -> answerWithoutTls(plain)).start();
      String url = "https://localhost:" + plain.getLocalPort();
      String start = "the key set at JWT_JWKS_URL cannot be fetched: \"" + url.substring(8) + "\" ";
      String message;
      do { // again on a machine that is slower than the time-out
        message = assertThrows(ConfigurationException.class, () -> report(url)).toString();
      } while (message.contains("sends no whole answer"));
      assertTrue(message.contains(start + "fails in TLS; check the certificate and "), message);
    }
  }

  /** Until the port is closed, because the client may connect again by itself. */
  private static void answerWithoutTls(ServerSocket plain) {
    while (!plain.isClosed()) {
      try (Socket client = plain.accept()) {
        client.getInputStream().read();
        client.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
        client.shutdownOutput();
        client.getInputStream().readAllBytes();
      } catch (IOException e) {
        // The client or the test has closed its side.
      }
    }
  }

  private static String report(String url) throws Exception {
    TokenSettings settings = new TokenSettings(null, new URI(url), null, null);
    return new TokenRequirements(settings).provider();
  }

  @Test
  void provider_that_has_ended_is_named_with_what_to_check() {
    provider.close();

    assertUnfetched(
        "refuses the connection; check the port and the provider", requirements::provider);
  }

  @Test
  void provider_that_is_down_is_named_with_what_to_check() throws Exception {
    provider.goDown();

    assertUnfetched(
        "sends no usable key set; check the address and the provider: the status is \"500\"",
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
          {"alg":"HS256","typ":"TYPE"} | "iss":"here"                  | its typ must be JWT or at+jwt, but is "TYPE"
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

  private void assertUnfetched(String reason, Executable part) {
    String place = "\"localhost:" + provider.keySetUrl().getPort() + "\" ";
    assertRefused("the key set at JWT_JWKS_URL cannot be fetched: " + place + reason, part);
  }

  private static void assertRefused(String message, Executable part) {
    assertEquals(message, assertThrows(ConfigurationException.class, part).getMessage());
  }
}
