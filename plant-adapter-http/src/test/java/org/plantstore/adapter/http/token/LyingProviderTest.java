package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;

/**
 * An identity provider that answers anything but its key set: that is a provider that is down, and
 * the keys which are known go on working.
 */
@Timeout(60)
class LyingProviderTest {

  private static ECKey known;
  private static ECKey next;

  private IdentityProvider provider;
  private EmbeddedServer server;

  @BeforeAll
  static void generateKeys() throws JOSEException {
    known = new ECKeyGenerator(Curve.P_256).keyID("known").generate();
    next = new ECKeyGenerator(Curve.P_256).keyID("next").generate();
  }

  @BeforeEach
  void start() {
    provider = new IdentityProvider(known);
    server = ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.jwks-url", provider.url()));
  }

  @AfterEach
  void stop() {
    server.close();
    provider.close();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("lies")
  void lie_is_no_key_set(String name, HttpHandler lie) {
    assertEquals(200, status(token(known)));
    int fetches = provider.fetches();
    provider.answer(lie);

    Answer answer = Answer.create(server.getURI(), token(next));

    assertEquals(503, answer.status(), answer.body());
    assertTrue(answer.body().startsWith("{\"error\":5004,"), answer.body());
    assertTrue(provider.fetches() > fetches, "the lie was fetched");
    assertEquals(200, status(token(known)));
  }

  static Stream<Arguments> lies() {
    String truth = "{\"keys\":[" + next.toPublicJWK() + "]}";
    return Stream.of(
        arguments("10,000 keys", text(keySet(next.toPublicJWK() + ",{}".repeat(10_000)))),
        arguments("nested", text("{\"keys\":" + "[".repeat(100_000))),
        arguments("cut off", text(truth.substring(0, truth.length() - 2))),
        arguments("repeated member", text(truth.replace("{\"keys\"", "{\"keys\":[],\"keys\""))),
        arguments("keys that are no objects", text("{\"keys\":[1,\"x\"]}")),
        arguments("keys that are no list", text("{\"keys\":" + next.toPublicJWK() + "}")),
        arguments("compressed", (HttpHandler) exchange -> compressed(exchange, truth)),
        arguments("endless", (HttpHandler) LyingProviderTest::endless),
        arguments("shorter than it says", (HttpHandler) exchange -> cutOff(exchange, truth)),
        arguments("redirect to itself", redirect("/keys")),
        arguments("redirect to a file", redirect("file:///etc/passwd")),
        arguments("redirect to a jar", redirect("jar:file:///etc/keys.jar!/keys")),
        arguments("redirect to ftp", redirect("ftp://localhost/keys")),
        arguments("redirect to nowhere", redirect("http://[")),
        arguments("not modified", (HttpHandler) exchange -> exchange.sendResponseHeaders(304, -1)),
        arguments("no content", (HttpHandler) exchange -> exchange.sendResponseHeaders(204, -1)));
  }

  @ParameterizedTest
  @MethodSource("oddKeys")
  void odd_key_is_left_out_and_spoils_no_other(String odd) {
    provider.answer(text(keySet(odd + "," + next.toPublicJWK())));

    assertEquals(200, status(token(next)));
  }

  static Stream<String> oddKeys() {
    return Stream.of(
        "null",
        "{}",
        "{\"kty\":7}",
        "{\"kty\":\"EC\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"EC\",\"crv\":\"none\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"RSA\",\"n\":\"\",\"e\":\"\"}",
        "{\"kty\":\"RSA\",\"n\":\"AA\",\"e\":\"AA\"}",
        "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\",\"oth\":[null]}",
        "{\"kty\":\"oct\",\"k\":7}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x5c\":[\"AA\"],\"key_ops\":[\"x\",\"x\"]}");
  }

  /** What a provider says is logged, and must not look like lines of the service. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"kty\":\"%s\"}",
        "{\"kty\":\"EC\",\"crv\":\"%s\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\",\"key_ops\":[\"%s\"]}"
      })
  void odd_key_has_one_legible_and_short_line_in_the_log(String odd) {
    String forged = "x\\r\\n2026-11-22 WARN forged\\u001b[2K\\u0085\\u2028" + "x".repeat(1_000);
    provider.answer(text(keySet(odd.formatted(forged) + "," + next.toPublicJWK())));
    try (Log log = new Log(ProviderKeySet.class.getName())) {
      assertEquals(200, status(token(next)));

      String line = log.await(1).get(0).getFormattedMessage();
      assertTrue(line.matches("[ -~]{100,400}"), line);
      assertTrue(line.contains("x??2026-11-22 WARN forged?[2K??x"), line);
    }
  }

  @Test
  void secret_that_is_published_is_no_key() throws JOSEException {
    OctetSequenceKey secret =
        new OctetSequenceKey.Builder(Tokens.SECRET.getBytes(UTF_8)).keyID("oct").build();
    provider.answer(text(keySet(secret.toJSONString() + "," + next.toPublicJWK())));

    assertEquals(401, status(token("oct", JWSAlgorithm.HS256, new MACSigner(secret))));
    assertEquals(200, status(token(next)));
  }

  @Test
  void private_key_that_is_published_is_no_key() {
    provider.answer(text(keySet(next.toJSONString() + "," + known.toPublicJWK())));

    assertEquals(401, status(token(next)));
    assertEquals(200, status(token(known)));
  }

  private static String keySet(String keys) {
    return "{\"keys\":[" + keys + "]}";
  }

  private static HttpHandler text(String body) {
    return exchange -> {
      byte[] bytes = body.getBytes(UTF_8);
      exchange.sendResponseHeaders(200, bytes.length);
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

  private static void cutOff(HttpExchange exchange, String body) throws IOException {
    exchange.sendResponseHeaders(200, body.length() + 1L);
    exchange.getResponseBody().write(body.getBytes(UTF_8));
    exchange.getResponseBody().flush();
  }

  private static String token(ECKey key) {
    try {
      return token(key.getKeyID(), JWSAlgorithm.ES256, new ECDSASigner(key));
    } catch (JOSEException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static String token(String keyId, JWSAlgorithm algorithm, JWSSigner signer) {
    return Tokens.signed(
        new JWSHeader.Builder(algorithm).keyID(keyId).build(), signer, Tokens.claims().build());
  }

  private int status(String token) {
    return Answer.create(server.getURI(), token).status();
  }
}
