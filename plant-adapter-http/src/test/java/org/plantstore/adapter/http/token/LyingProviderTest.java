package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Named.named;
import static org.plantstore.adapter.http.token.IdentityProvider.send;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
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
import java.text.ParseException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.error.RefusedException;

/** While the provider answers anything but a key set, it is down, and its last one stays known. */
class LyingProviderTest {

  private static final ECKey KNOWN = IdentityProvider.key(Curve.P_256, "known").toPublicJWK();
  private static final ECKey NEXT = IdentityProvider.key(Curve.P_256, "next").toPublicJWK();
  private static final JWKSelector UNKNOWN =
      new JWKSelector(new JWKMatcher.Builder().keyID("unknown").build());

  /** In less time than a lie takes that drips. */
  @Timeout(20)
  @ParameterizedTest
  @MethodSource("lies")
  void provider_is_down_while_it_lies_and_its_keys_are_the_same_until_it_has_others(
      HttpHandler lie) {
    try (IdentityProvider provider = new IdentityProvider(KNOWN);
        Log log = new Log(ProviderKeys.class.getName())) {
      ProviderKeys keys = new ProviderKeys(provider.url(), Duration.ofMinutes(5), 1);
      assertThrows(RefusedException.class, () -> keys.find(UNKNOWN));
      keys.fetch();
      JWKSet known = keys.current();
      assertEquals(List.of(KNOWN), known.getKeys());
      provider.answer(lie);
      keys.fetch();
      assertSame(known, keys.current());
      assertThrows(RefusedException.class, () -> keys.find(UNKNOWN));
      provider.publish(KNOWN);
      keys.fetch();
      assertSame(known, keys.current());
      assertEquals(List.of(), keys.find(UNKNOWN));
      // The text of a provider must not look like lines of the service.
      String line = log.await(1).get(0).getFormattedMessage();
      assertTrue(
          line.matches("The key set at JWT_JWKS_URL cannot be fetched: [ -~]{100,500}"), line);
    }
  }

  static Stream<Named<HttpHandler>> lies() throws IOException {
    String truth = new JWKSet(NEXT).toString();
    byte[] bytes = truth.getBytes(UTF_8);
    byte[] tooMuch = (truth + " ".repeat(256 * 1024)).getBytes(UTF_8);
    return Stream.of(
        named("empty", body()),
        named("no keys", body("{}".getBytes(UTF_8))),
        named("nested", body(("{\"keys\":" + "[".repeat(100_000)).getBytes(UTF_8))),
        named("cut off", body(Arrays.copyOf(bytes, bytes.length - 2))),
        named("too large", body(tooMuch)),
        named("bomb", body(gzip(tooMuch))),
        named("compressed twice", body(gzip(gzip(bytes)))),
        named("compressed and cut off", body(Arrays.copyOf(gzip(bytes), 80))),
        named("shorter than it says", exchange -> send(exchange, bytes.length + 1, bytes)),
        named("dripping", exchange -> drip(exchange, bytes)),
        named("redirect to a file", redirect("file:///etc/passwd")),
        named("redirect that is no address", redirect("x y\u00E9" + "x".repeat(2_000))),
        named("no content", exchange -> exchange.sendResponseHeaders(204, -1)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7",
        "{'kty':7}",
        "{'kty':'EC','crv':'P-256','x':'AA','y':'AA'}",
        "{'kty':'oct','k':'AA'}",
        "{<known>,'use':7}",
        "{<known>,'use':'tls'}",
        "{<known>,'alg':'ES384'}",
        "{<known>,'key_ops':['sign']}",
        "{<known>,'d':'AQAB'}",
        "{'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'}",
        "{'kty':'EC','crv':'secp256k1','x':'eb5mfvncu6xVoGKVzocLBwKb_NstzijZWfKBWxb4F5g','y':'SDradyajxGVdpPv8DhEIqP0XtEimhVQZnEfQj_sQ1Lg'}"
      })
  void key_that_is_left_out_is_counted_and_spoils_no_other(String key) throws ParseException {
    assertEquals(new KeySet(new JWKSet(NEXT), 1), parse(key));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'key_ops':['sign','verify']",
        "'use':null",
        "'use':'jwt-svid'",
        "'x5c':['-----BEGIN']",
        "'x5t':7",
        "'exp':[]"
      })
  void member_that_verification_does_not_need_makes_no_key_unusable(String member)
      throws ParseException {
    assertEquals("2 usable keys, 0 left out", parse("{<known>," + member + "}").toString());
  }

  /** A warning would be repeated for ever, although nothing is wrong. */
  @ParameterizedTest
  @ValueSource(strings = {"enc", "x509-svid"})
  void key_for_another_use_is_not_counted(String use) throws ParseException {
    assertEquals(new KeySet(new JWKSet(NEXT), 0), parse("{<known>,'use':'" + use + "'}"));
  }

  /** The library counts the bits of whole bytes. */
  @ParameterizedTest
  @CsvSource({"2041, 1", "2047, 1", "2048, 2"})
  void modulus_has_2048_bits(int bits, int usable) throws ParseException {
    Base64URL modulus = Base64URL.encode(BigInteger.ONE.shiftLeft(bits - 1).setBit(0));
    KeySet keys = parse("{'kty':'RSA','e':'AQAB','n':'" + modulus + "'}");
    assertEquals(usable, keys.usable().size());
  }

  /** Returns the key NEXT and another one. */
  private static KeySet parse(String key) throws ParseException {
    String other = key.replace("<known>", KNOWN.toJSONString().replaceAll("[{}]", ""));
    return KeySet.parse("{\"keys\":[" + NEXT + "," + other.replace('\'', '"') + "]}");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void compressed_key_set_is_read_although_none_is_asked_for(boolean isCompressed)
      throws IOException {
    byte[] text = new JWKSet(NEXT).toString().getBytes(UTF_8);
    byte[] body = isCompressed ? gzip(text) : text;
    try (IdentityProvider provider = new IdentityProvider()) {
      provider.answer(exchange -> {
        Headers headers = exchange.getRequestHeaders();
        boolean isPlain =
            "identity".equals(headers.getFirst("Accept-Encoding"))
                && !headers.containsKey("Upgrade");
        (isPlain ? body(body) : body()).handle(exchange);
      });
      assertEquals(new KeySet(new JWKSet(NEXT), 0), new ProviderKeySet(provider.url()).fetch());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/keys/moved, /keys/moved",
    "https://a.example/k?pw#pw, https://a.example/k",
    "//me:pw@a.example, //a.example"
  })
  void redirect_is_not_followed_but_told(String location, String shown) {
    try (IdentityProvider provider = new IdentityProvider()) {
      provider.answer(redirect(location));
      IOException failure =
          assertThrows(IOException.class, new ProviderKeySet(provider.url())::fetch);
      assertEquals(1, provider.fetches());
      String end = ": the status is 302, the Location \"" + shown + '"';
      assertTrue(String.valueOf(failure.getMessage()).endsWith(end), failure::toString);
    }
  }

  private static HttpHandler redirect(String target) {
    return exchange -> {
      exchange.getResponseHeaders().set("Location", target);
      exchange.sendResponseHeaders(302, -1);
    };
  }

  private static HttpHandler body(byte... body) {
    return exchange -> send(exchange, body.length == 0 ? -1 : body.length, body);
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
