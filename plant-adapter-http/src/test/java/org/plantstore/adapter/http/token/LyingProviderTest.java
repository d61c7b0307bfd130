package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Named.named;
import static org.plantstore.adapter.http.token.IdentityProvider.send;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.util.Base64URL;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.error.RefusedException;

/** While the provider answers anything but a key set, it is down, and its last one stays known. */
@Timeout(60)
class LyingProviderTest {

  private static final ECKey KNOWN = IdentityProvider.key(Curve.P_256, "known").toPublicJWK();
  private static final ECKey NEXT = IdentityProvider.key(Curve.P_256, "next").toPublicJWK();

  @AutoClose private final IdentityProvider provider = new IdentityProvider(KNOWN);
  private final ProviderKeys keys = new ProviderKeys(provider.url(), Duration.ofMinutes(5), 1);

  @ParameterizedTest
  @MethodSource("lies")
  void provider_is_down_while_it_lies_and_its_keys_are_the_same_until_it_has_others(
      HttpHandler lie) {
    assertTrue(isDown());
    assertEquals(List.of(KNOWN), fetch());
    assertFalse(isDown());
    JWKSet knownBefore = keys.current();
    provider.answer(lie);
    long start = System.nanoTime();

    fetch();

    assertTrue(System.nanoTime() - start < Duration.ofSeconds(10).toNanos());
    assertTrue(isDown());
    assertSame(knownBefore, keys.current());
    provider.publish(KNOWN);
    fetch();
    assertFalse(isDown());
    assertSame(knownBefore, keys.current());
  }

  static Stream<Named<HttpHandler>> lies() throws IOException {
    String truth = keySet(NEXT.toJSONString());
    byte[] bytes = truth.getBytes(UTF_8);
    return Stream.of(
        named("empty", text("")),
        named("a page", text("<html>")),
        named("no keys", text("{}")),
        named("nested", text("{\"keys\":" + "[".repeat(100_000))),
        named("cut off", text(truth.substring(0, truth.length() - 2))),
        named("repeated member", text(truth.replace("{\"keys\"", "{\"keys\":[],\"keys\""))),
        named("keys that are no list", text("{\"keys\":" + NEXT + "}")),
        named("deflated", coded("deflate", new byte[] {120, -100, 3, 0, 0, 0, 0, 1})),
        named("of another coding", coded("br", new byte[] {11, 2, -128})),
        named("compressed twice", coded("gzip, gzip", gzip(gzip(bytes)))),
        named("compressed and cut off", coded("gzip", Arrays.copyOf(gzip(bytes), 80))),
        named("bomb", coded("gzip", gzip((truth + " ".repeat(1 << 24)).getBytes(UTF_8)))),
        named("shorter than it says", exchange -> send(exchange, truth.length() + 1, bytes)),
        named("dripping", exchange -> drip(exchange, bytes)),
        named("redirect to a file", redirect("file:///etc/passwd")),
        named("redirect to nowhere", redirect("http://[")),
        named("not modified", exchange -> exchange.sendResponseHeaders(304, -1)),
        named("no content", exchange -> exchange.sendResponseHeaders(204, -1)));
  }

  @ParameterizedTest
  @CsvSource({"262144, 1, true", "262145, 1, false", "0, 100, true", "0, 101, false"})
  void size_is_bounded(int bytes, int keys, boolean isTaken) {
    String text = keySet(String.join(",", Collections.nCopies(keys, NEXT.toString())));
    provider.publish(text + " ".repeat(Math.max(0, bytes - text.length())));
    assertEquals(isTaken ? keys : 0, fetch().size());
    assertEquals(isTaken, !isDown());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7",
        "[{'kid':'list'}]",
        "{<odd>,'kty':7}",
        "{<odd>,'kty':'EC'}",
        "{<odd>,'kty':'EC','crv':'P-256','x':'AA','y':'AA'}",
        "{<odd>,'kty':'RSA','n':'','e':''}",
        "{<odd>,'kty':'RSA','n':'AQAB','e':'AQAB','oth':[null]}",
        "{'kty':'oct','k':'AA','kid':7}",
        "{<known>,'use':7}",
        "{<known>,'use':'tls'}",
        "{<known>,'alg':'ES384'}",
        "{<known>,'alg':'XS256'}",
        "{<known>,'key_ops':'verify'}",
        "{<known>,'key_ops':['sign','?']}",
        "{<known>,'d':'AQAB'}",
        "{'kty':'RSA','n':'AQAB','e':'AQAB'}",
        "{'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'}",
        "{'kty':'EC','crv':'secp256k1','x':'eb5mfvncu6xVoGKVzocLBwKb_NstzijZWfKBWxb4F5g','y':'SDradyajxGVdpPv8DhEIqP0XtEimhVQZnEfQj_sQ1Lg'}",
        "{'kty':'RSA','kid':'q','n':'AQAB','e':'AQAB','q':'AQAB'}"
      })
  void key_that_is_left_out_is_counted_and_spoils_no_other(String key) {
    publishBoth(key.replace('\'', '"'));
    try (Log log = new Log(PublishedKeys.class.getName())) {
      assertEquals(List.of(NEXT), fetch());
      assertEquals(
          "The key set at JWT_JWKS_URL has keys that are left out, 1 usable key, 1 left out",
          log.await(1).get(0).getFormattedMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'key_ops':['verify','notarize',7]",
        "'key_ops':null",
        "'use':null",
        "'other':{'a':[]}",
        "'use':'jwt-svid'",
        "'x5c':['-----BEGIN']",
        "'x5c':[]",
        "'x5t':7",
        "'x5t#S256':false",
        "'x5u':':'",
        "'nbf':'2026'",
        "'exp':[]",
        "'revoked':{}"
      })
  void member_that_verification_does_not_need_makes_no_key_unusable(String member) {
    publishBoth("{<known>," + member.replace('\'', '"') + "}");
    assertEquals(2, fetch().size());
  }

  /** The library counts the bits of whole bytes. */
  @ParameterizedTest
  @CsvSource({"2028, 1", "2041, 1", "2047, 1", "2048, 2"})
  void modulus_has_2048_bits(int bits, int usable) {
    Base64URL modulus = Base64URL.encode(BigInteger.ONE.shiftLeft(bits - 1).setBit(0));
    publishBoth("{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"" + modulus + "\"}");
    assertEquals(usable, fetch().size());
  }

  private void publishBoth(String key) {
    String members = KNOWN.toJSONString().replaceAll("[{}]", "");
    String named = key.replace("<known>", members).replace("<odd>", "\"kid\":\"a\\\"\\u000A\"");
    provider.publish(keySet(NEXT + "," + named));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "x-gzip", "GZip", "identity"})
  void compressed_key_set_is_read_although_none_is_asked_for(String coding) {
    byte[] text = keySet(NEXT.toString()).getBytes(UTF_8);
    provider.answer(exchange -> {
      Headers headers = exchange.getRequestHeaders();
      boolean isPlain =
          "identity".equals(headers.getFirst("Accept-Encoding"))
              && !headers.containsKey("Upgrade")
              && !headers.containsKey("HTTP2-Settings");
      coded(isPlain ? coding : "br", coding.equals("identity") ? text : gzip(text))
          .handle(exchange);
    });
    assertEquals(List.of(NEXT), fetch());
  }

  @ParameterizedTest
  @CsvSource({
    "/keys/moved, /keys/moved",
    "?moved#moved, ''",
    "https://a.example/k?pw#pw, https://a.example/k",
    "//me:pw@a.example, //a.example",
    "mailto:a@a.example, mailto:a@a.example"
  })
  void redirect_is_not_followed_but_told(String location, String shown) {
    provider.answer(redirect(location));
    try (Log log = new Log(ProviderKeys.class.getName())) {
      fetch();
      assertTrue(isDown());
      assertEquals(1, provider.fetches());
      String line = log.await(1).get(0).getFormattedMessage();
      String end = ": it redirects to \"" + shown + "\"; if that is right, set JWT_JWKS_URL to it";
      assertTrue(line.endsWith(end), line);
    }
  }

  /** The text of a provider is logged, and must not look like lines of the service. */
  @Test
  void failure_has_one_legible_and_short_line_in_the_log() {
    provider.answer(redirect("x y\u00E9" + "x".repeat(2_000)));
    try (Log log = new Log(ProviderKeys.class.getName())) {
      fetch();

      String line = log.await(1).get(0).getFormattedMessage();
      assertTrue(
          line.matches("The key set at JWT_JWKS_URL cannot be fetched: [ -~]{300,400}"), line);
      assertTrue(line.contains("x y?xxx"), line);
    }
  }

  /** Returns whether a search for an unknown key fails. */
  private boolean isDown() {
    JWKMatcher unknown = new JWKMatcher.Builder().keyID("unknown").build();
    try {
      return !keys.find(new JWKSelector(unknown)).isEmpty();
    } catch (RefusedException e) {
      return true;
    }
  }

  private List<JWK> fetch() {
    keys.renew();
    return keys.current().getKeys();
  }

  private static String keySet(String keys) {
    return "{\"keys\":[" + keys + "]}";
  }

  private static HttpHandler text(String body) {
    return coded("identity", body.getBytes(UTF_8));
  }

  private static HttpHandler redirect(String target) {
    return exchange -> {
      exchange.getResponseHeaders().set("Location", target);
      exchange.sendResponseHeaders(302, -1);
    };
  }

  private static HttpHandler coded(String coding, byte[] body) {
    return exchange -> {
      exchange.getResponseHeaders().set("Content-Encoding", coding);
      send(exchange, body.length, body);
    };
  }

  private static byte[] gzip(byte[] body) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(packed)) {
      out.write(body);
    }
    return packed.toByteArray();
  }

  private static void drip(HttpExchange exchange, byte[] body) throws IOException {
    exchange.sendResponseHeaders(200, body.length);
    for (byte part : body) {
      exchange.getResponseBody().write(part);
      exchange.getResponseBody().flush();
      LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
    }
  }
}
