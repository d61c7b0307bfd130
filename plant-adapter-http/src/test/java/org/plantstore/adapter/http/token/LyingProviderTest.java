package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetRetrievalException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.plantstore.adapter.http.Log;

/**
 * What is taken from an identity provider: one that answers anything but its key set is down, and
 * the last key set stays known.
 */
@Timeout(60)
class LyingProviderTest {

  private static ECKey known;
  private static ECKey next;

  private IdentityProvider provider;
  private ProviderKeySet keySet;

  @BeforeAll
  static void generateKeys() throws JOSEException {
    known = new ECKeyGenerator(Curve.P_256).keyID("known").generate();
    next = new ECKeyGenerator(Curve.P_256).keyID("next").generate();
  }

  @BeforeEach
  void start() throws Exception {
    provider = new IdentityProvider(known);
    keySet = new ProviderKeySet(URI.create(provider.url()).toURL());
  }

  @AfterEach
  void stop() {
    provider.close();
  }

  @Test
  void provider_is_down_until_it_has_answered() throws Exception {
    assertTrue(keySet.isDown());
    assertEquals(List.of(), keySet.known().getKeys());

    assertEquals(List.of(known.toPublicJWK()), fetch());
    assertFalse(keySet.isDown());
    assertEquals(List.of(known.toPublicJWK()), keySet.known().getKeys());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("lies")
  void lie_is_no_key_set(String name, HttpHandler lie) throws Exception {
    fetch();
    JWKSet knownBefore = keySet.known();
    provider.answer(lie);
    long start = System.nanoTime();

    assertThrows(JWKSetRetrievalException.class, this::fetch);

    assertTrue(System.nanoTime() - start < Duration.ofSeconds(10).toNanos());
    assertTrue(keySet.isDown());
    assertEquals(knownBefore, keySet.known());
  }

  @Test
  void key_set_that_drips_is_not_waited_for() {
    provider.drip();
    long start = System.nanoTime();

    assertThrows(JWKSetRetrievalException.class, this::fetch);

    assertTrue(System.nanoTime() - start < Duration.ofSeconds(10).toNanos());
  }

  static Stream<Arguments> lies() {
    String truth = keySet(next.toPublicJWK().toJSONString());
    return Stream.of(
        arguments("empty", text("")),
        arguments("a page", text("<html>")),
        arguments("a list", text("[]")),
        arguments("no keys", text("{}")),
        arguments("10,000 keys", text(keySet(next.toPublicJWK() + ",{}".repeat(10_000)))),
        arguments("nested", text("{\"keys\":" + "[".repeat(100_000))),
        arguments("cut off", text(truth.substring(0, truth.length() - 2))),
        arguments("repeated member", text(truth.replace("{\"keys\"", "{\"keys\":[],\"keys\""))),
        arguments("keys that are no objects", text("{\"keys\":[1,\"x\"]}")),
        arguments("keys that are no list", text("{\"keys\":" + next.toPublicJWK() + "}")),
        arguments("compressed", (HttpHandler) exchange -> compressed(exchange, truth)),
        arguments("endless", (HttpHandler) LyingProviderTest::endless),
        arguments("silent", (HttpHandler) exchange -> silent()),
        arguments("shorter than it says", (HttpHandler) exchange -> cutOff(exchange, truth)),
        arguments("redirect to itself", redirect("/keys")),
        arguments("redirect to a file", redirect("file:///etc/passwd")),
        arguments("redirect to a jar", redirect("jar:file:///etc/keys.jar!/keys")),
        arguments("redirect to ftp", redirect("ftp://localhost/keys")),
        arguments("redirect to nowhere", redirect("http://[")),
        arguments("error", (HttpHandler) exchange -> exchange.sendResponseHeaders(500, -1)),
        arguments("not modified", (HttpHandler) exchange -> exchange.sendResponseHeaders(304, -1)),
        arguments("no content", (HttpHandler) exchange -> exchange.sendResponseHeaders(204, -1)));
  }

  @ParameterizedTest
  @CsvSource({"262144, 1, true", "262145, 1, false", "0, 100, true", "0, 101, false"})
  void size_is_bounded(int bytes, int keys, boolean isTaken) throws Exception {
    String text =
        keySet(String.join(",", Collections.nCopies(keys, next.toPublicJWK().toString())));
    provider.publish(text + " ".repeat(Math.max(0, bytes - text.length())));
    if (isTaken) {
      assertEquals(keys, fetch().size());
    } else {
      assertThrows(JWKSetRetrievalException.class, this::fetch);
    }
  }

  @Test
  void odd_key_is_left_out_and_spoils_no_other() throws Exception {
    String odd =
        """
        null
        {}
        {"kty":7}
        {"kty":"new"}
        {"kty":"EC"}
        {"kty":"EC","crv":"P-256","x":"AA","y":"AA"}
        {"kty":"EC","crv":"none","x":"AA","y":"AA"}
        {"kty":"RSA","kid":"bad","e":"AQAB"}
        {"kty":"RSA","n":"","e":""}
        {"kty":"RSA","n":"AA","e":"AA"}
        {"kty":"RSA","n":"AQAB","e":"AQAB","oth":[null]}
        {"kty":"oct","k":7}
        {"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
        {"kty":"EC","crv":"P-256","x5c":["AA"],"key_ops":["x","x"]}
        """;
    provider.publish(keySet(odd.replace('\n', ',') + next.toPublicJWK()));
    try (Log log = new Log(ProviderKeySet.class.getName())) {
      assertEquals(List.of(next.toPublicJWK()), fetch());
      assertEquals(
          "The key set at JWT_JWKS_URL has keys that are left out, 14 of 15",
          log.await(1).get(0).getFormattedMessage());
    }
  }

  @Test
  void weak_private_and_signing_keys_are_left_out() throws Exception {
    JWK strong = new RSAKeyGenerator(2048).keyID("strong").generate().toPublicJWK();
    JWK weak = new RSAKeyGenerator(1024, true).keyID("weak").generate().toPublicJWK();
    JWK signing = withOperation(KeyOperation.SIGN);
    JWK verifying = withOperation(KeyOperation.VERIFY);
    provider.publish(
        keySet(
            String.join(
                ",",
                strong.toJSONString(),
                weak.toJSONString(),
                signing.toJSONString(),
                verifying.toJSONString(),
                known.toJSONString())));

    assertEquals(List.of(strong, verifying), fetch());
  }

  private static JWK withOperation(KeyOperation operation) {
    return new ECKey.Builder(next.toPublicJWK()).keyOperations(Set.of(operation)).build();
  }

  /** What a provider says is logged, and must not look like lines of the service. */
  @Test
  void failure_has_one_legible_and_short_line_in_the_log() {
    provider.answer(redirect("x y\u00E9" + "x".repeat(1_000)));
    try (Log log = new Log(ProviderKeySet.class.getName())) {
      assertThrows(JWKSetRetrievalException.class, this::fetch);

      String line = log.await(1).get(0).getFormattedMessage();
      assertTrue(line.matches("The key set at JWT_JWKS_URL cannot be fetched: [ -~]{200}"), line);
      assertTrue(line.contains("x y?xxx"), line);
    }
  }

  private List<JWK> fetch() throws JWKSetRetrievalException {
    return keySet.getJWKSet(JWKSetCacheRefreshEvaluator.noRefresh(), 0, null).getKeys();
  }

  private static String keySet(String keys) {
    return "{\"keys\":[" + keys + "]}";
  }

  private static HttpHandler text(String body) {
    return exchange -> {
      byte[] bytes = body.getBytes(UTF_8);
      exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    };
  }

  private static HttpHandler redirect(String target) {
    return exchange -> {
      exchange.getResponseHeaders().set("Location", target);
      exchange.sendResponseHeaders(302, -1);
    };
  }

  private static void compressed(HttpExchange exchange, String body) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(body.getBytes(UTF_8));
    }
    exchange.getResponseHeaders().set("Content-Encoding", "gzip");
    exchange.sendResponseHeaders(200, bytes.size());
    exchange.getResponseBody().write(bytes.toByteArray());
  }

  /** Ends only when the service hangs up. */
  private static void endless(HttpExchange exchange) throws IOException {
    exchange.sendResponseHeaders(200, 0);
    byte[] white = new byte[8_192];
    Arrays.fill(white, (byte) ' ');
    for (byte[] part : Collections.nCopies(1 << 20, white)) {
      exchange.getResponseBody().write(part);
    }
  }

  private static void silent() {
    LockSupport.parkNanos(Duration.ofMinutes(1).toNanos());
  }

  private static void cutOff(HttpExchange exchange, String body) throws IOException {
    exchange.sendResponseHeaders(200, body.length() + 1L);
    exchange.getResponseBody().write(body.getBytes(UTF_8));
    exchange.getResponseBody().flush();
  }
}
