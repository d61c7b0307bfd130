package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Named.named;
import static org.plantstore.adapter.http.token.IdentityProvider.repeatUntil;
import static org.plantstore.adapter.http.token.IdentityProvider.send;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
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
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.text.ParseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** Tests when a provider's keys are fetched, and which keys are usable. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class ProviderKeysTest {

  private static final ECKey KNOWN = IdentityProvider.key(Curve.P_256, "known").toPublicJWK();
  private static final ECKey NEXT = IdentityProvider.key(Curve.P_256, "next").toPublicJWK();
  private static final ECKey FORGED = IdentityProvider.key(Curve.P_256, "forged").toPublicJWK();

  @AutoClose private final IdentityProvider provider = new IdentityProvider(KNOWN);

  @Test
  void known_key_remains_in_use_while_the_provider_is_down_and_until_it_is_withdrawn()
      throws Exception {
    ProviderKeys lasting = keys(Duration.ofHours(1));
    lasting.renew();
    assertEquals(0, provider.fetches(), "fetches before the first token");
    assertEquals(List.of(KNOWN), find(lasting, KNOWN));
    lasting.renew();
    assertEquals(1, provider.fetches(), "fetches within the lifetime");

    ProviderKeys keys = keys(Duration.ofSeconds(1));
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    JWKSet known = keys.current();
    provider.goDown();
    repeatUntil(
        () -> provider.fetches() >= 4,
        () -> {
          keys.renew();
          assertEquals(List.of(KNOWN), find(keys, KNOWN));
        });
    assertThrows(RefusedException.class, () -> find(keys, NEXT));

    provider.publish(KNOWN);
    keys.fetch();
    assertSame(known, keys.current(), "no token needs to be validated again");
    assertEquals(List.of(), selector(NEXT).select(keys.current()));

    provider.publish(NEXT);
    repeatUntil(() -> !keys.current().getKeys().contains(KNOWN), keys::renew);
    assertEquals(List.of(NEXT), find(keys, NEXT));
    assertEquals(List.of(), selector(KNOWN).select(keys.current()));
  }

  @Test
  void search_for_an_unknown_key_waits_for_the_next_permitted_fetch_or_fails_during_an_outage()
      throws Exception {
    Duration pause = Duration.ofSeconds(1);
    ProviderKeys keys = keys(pause.multipliedBy(120));
    long start = System.nanoTime();
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    CountDownLatch end = new CountDownLatch(1);
    provider.answerAfter(end);
    List<CompletableFuture<Void>> searches = new ArrayList<>();
    searches.add(search(keys, NEXT));
    provider.awaitFetches(2); // without the key, and in progress until all searches have begun
    provider.publish(KNOWN, NEXT);
    for (int search = 0; search < 10; search++) {
      searches.add(search(keys, NEXT));
      searches.add(search(keys, FORGED));
    }
    end.countDown();
    searches.forEach(CompletableFuture::join);

    assertEquals(List.of(NEXT), selector(NEXT).select(keys.current()));
    assertEquals(List.of(), selector(FORGED).select(keys.current()));
    assertTrue(System.nanoTime() - start >= 2 * pause.toNanos());
    assertEquals(3, provider.fetches());

    provider.goDown();
    repeatUntil(
        () -> provider.fetches() >= 5,
        () -> assertThrows(RefusedException.class, () -> find(keys, FORGED)));
    assertTrue(System.nanoTime() - start >= 4 * pause.toNanos());
  }

  @Test
  void key_replaced_under_the_same_kid_is_fetched_at_most_once_in_a_tenth_of_the_lifetime()
      throws Exception {
    Duration lifetime = Duration.ofSeconds(20);
    ProviderKeys keys = keys(lifetime);
    final long start = System.nanoTime();
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    for (int replacement = 1; replacement <= 3; replacement++) {
      JWK replaced = IdentityProvider.key(Curve.P_256, "known").toPublicJWK();
      provider.publish(replaced);
      JWKSet tried = keys.current();
      repeatUntil( // as if many forged tokens and finally a genuine one arrived
          () -> !keys.current().equals(tried),
          () -> keys.search(selector(KNOWN), tried).get(1, TimeUnit.MINUTES));
      assertEquals(List.of(replaced), selector(KNOWN).select(keys.current()));
      assertEquals(1 + replacement, provider.fetches());
    }
    assertTrue(System.nanoTime() - start >= lifetime.multipliedBy(2).dividedBy(10).toNanos());
  }

  @Test
  void search_waits_for_another_fetch_if_the_fetch_in_progress_does_not_find_its_key()
      throws Exception {
    ProviderKeys keys = keys(Duration.ofMinutes(1));
    CountDownLatch published = new CountDownLatch(1);
    CountDownLatch publishedAgain = new CountDownLatch(1);
    provider.answerAfter(published);
    CompletableFuture<Void> first = search(keys, FORGED);
    provider.awaitFetches(1);
    CompletableFuture<Void> known = search(keys, KNOWN);
    CompletableFuture<Void> newer = search(keys, NEXT);
    provider.publish(KNOWN, NEXT);
    provider.answerAfter(publishedAgain);
    published.countDown();

    CompletableFuture.allOf(first, known).get(1, TimeUnit.MINUTES);
    assertEquals(List.of(KNOWN), selector(KNOWN).select(keys.current()));
    assertFalse(newer.isDone());

    publishedAgain.countDown();
    newer.get(1, TimeUnit.MINUTES);
    assertEquals(List.of(NEXT), selector(NEXT).select(keys.current()));
    assertEquals(2, provider.fetches());
  }

  @Test
  void number_of_waiting_searches_is_limited_and_they_do_not_delay_known_keys() throws Exception {
    ProviderKeys keys = keys(Duration.ZERO); // the keys are always due for renewal
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    CountDownLatch end = new CountDownLatch(1);
    provider.answerAfter(end);
    CompletableFuture<Void> running = search(keys, NEXT);
    provider.awaitFetches(2);
    List<CompletableFuture<Void>> waiting =
        Stream.generate(() -> search(keys, NEXT)).limit(1_024).toList();

    RefusedException refusal = assertThrows(RefusedException.class, () -> find(keys, NEXT));
    assertEquals(ErrorNumber.OVERLOADED, refusal.error());
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    keys.renew(); // has no effect, because too many searches are waiting
    assertFalse(running.isDone(), "the search still waits");

    end.countDown();
    CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(1, TimeUnit.MINUTES);
    assertEquals(List.of(), find(keys, NEXT));
  }

  private ProviderKeys keys(Duration lifetime) {
    return new ProviderKeys(client(), lifetime);
  }

  /** Returns a client whose fetches do not time out even if the machine stalls. */
  private KeySetClient client() {
    return new KeySetClient(provider.url(), Duration.ofMinutes(1));
  }

  private List<JWK> find(ProviderKeys keys, JWK key) throws Exception {
    try {
      search(keys, key).get(1, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      throw assertInstanceOf(RefusedException.class, e.getCause());
    }
    return selector(key).select(keys.current());
  }

  private static CompletableFuture<Void> search(ProviderKeys keys, JWK key) {
    return keys.search(selector(key), new JWKSet());
  }

  private static JWKSelector selector(JWK key) {
    return new JWKSelector(new JWKMatcher.Builder().keyID(key.getKeyID()).build());
  }

  @ParameterizedTest
  @MethodSource("faultyResponses")
  void response_without_a_key_set_is_reported_in_one_line(HttpHandler faulty) {
    provider.answer(faulty);
    ConfigurationException failure = assertThrows(ConfigurationException.class, client()::fetch);
    String line = String.valueOf(failure.getMessage());
    String start = "(the response|no key set could be fetched) from \"localhost:\\d+\" ";
    assertTrue(line.matches(start + "[ -~]{20,1150}"), line);
  }

  @Test
  void refused_connection_to_the_provider_is_reported_as_such() {
    KeySetClient client =
        new KeySetClient(URI.create("http://localhost:1/keys"), KeySetClient.TIMEOUT);
    ConfigurationException failure = assertThrows(ConfigurationException.class, client::fetch);
    assertEquals(
        "no key set could be fetched from \"localhost:1\" (the connection was refused); check JWT_JWKS_URL, the network, and the provider's certificate",
        failure.getMessage());
  }

  /** The response arrives byte by byte, so the client never waits long for the next byte. */
  @Test
  void response_that_takes_too_long_is_reported_with_the_limit() {
    provider.answer(exchange -> drip(exchange, new JWKSet(NEXT).toString().getBytes(UTF_8)));
    KeySetClient client = new KeySetClient(provider.url(), Duration.ofSeconds(3));
    ConfigurationException failure = assertThrows(ConfigurationException.class, client::fetch);
    String line = String.valueOf(failure.getMessage());
    assertTrue(line.contains("(the response took longer than 3 s)"), line);
  }

  static Stream<Named<HttpHandler>> faultyResponses() {
    String keySet = new JWKSet(NEXT).toString();
    byte[] bytes = keySet.getBytes(UTF_8);
    byte[] tooMuch = (keySet + " ".repeat(256 * 1024)).getBytes(UTF_8);
    return Stream.of(
        named("no keys", body("{}".getBytes(UTF_8))),
        named("nested", body(("{\"keys\":" + "[".repeat(100_000)).getBytes(UTF_8))),
        named("cut off", body(Arrays.copyOf(bytes, bytes.length - 2))),
        named("too large", body(tooMuch)),
        named("shorter than declared", exchange -> send(exchange, bytes.length + 1, bytes)),
        named("redirect to an invalid address", redirect("x y\u00E9" + "x".repeat(2_000))));
  }

  @ParameterizedTest
  @CsvSource({
    "/keys/moved, /keys/moved",
    "https://a.example/k?pw#pw, https://a.example/k",
    "//me:pw@a.example, //a.example"
  })
  void redirect_is_not_followed_but_reported_without_secrets(String location, String shown) {
    provider.answer(redirect(location));
    ConfigurationException failure = assertThrows(ConfigurationException.class, client()::fetch);
    assertEquals(1, provider.fetches());
    assertEquals(
        "the response from \"%s\" has status 302 and the Location header \"%s\"; if you trust that address, set JWT_JWKS_URL to it"
            .formatted(provider.url().getAuthority(), shown),
        failure.getMessage());
  }

  @Test
  void request_for_the_key_set_accepts_uncompressed_json_and_names_the_service() {
    byte[] body = new JWKSet(NEXT).toString().getBytes(UTF_8);
    provider.answer(exchange -> {
      Headers headers = exchange.getRequestHeaders();
      boolean isExpected =
          "identity".equals(headers.getFirst("Accept-Encoding"))
              && "application/json".equals(headers.getFirst("Accept"))
              && "plant-store/unpackaged".equals(headers.getFirst("User-Agent"))
              && !headers.containsKey("Upgrade");
      (isExpected ? body(body) : body()).handle(exchange);
    });
    assertEquals(new KeySet(new JWKSet(NEXT), List.of()), client().fetch());
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

  private static void drip(HttpExchange exchange, byte[] body) throws IOException {
    exchange.sendResponseHeaders(200, body.length);
    for (byte part : body) {
      exchange.getResponseBody().write(part);
      exchange.getResponseBody().flush();
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
  }

  /**
   * A key that cannot verify tokens does not affect other keys. A key for another purpose is not
   * even reported.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          ; unusable: key 2 (Missing key type "kty" parameter) | 7
          ; unusable: "a" (Unsupported key type "kty" parameter: AKP) | {'kty':'AKP','kid':'a','alg':'ML-DSA-44'}
          ; unusable: "a" (no supported algorithm matches its combination of kty, alg, and crv) | {'kid':'a','kty':'EC','crv':'secp256k1','x':'eb5mfvncu6xVoGKVzocLBwKb_NstzijZWfKBWxb4F5g',\
          'y':'SDradyajxGVdpPv8DhEIqP0XtEimhVQZnEfQj_sQ1Lg'}
          ; unusable: "a" (EdDSA is not supported)         | {'kty':'OKP','kid':'a','crv':'Ed25519','x':'AA'}
          ; unusable: key 2 (it is a symmetric key)        | {'kty':'oct','k':'AA','kid':7}
          ; unusable: "known" (its use must be "sig", but is "tls")          | {<known>,'use':'tls'}
          ; unusable: "known" (no supported algorithm matches its combination of kty, alg, and crv) | {<known>,'alg':'ES384'}
          ; unusable: "known" (its key_ops must be an array that contains "verify", but is [sign]) | {<known>,'key_ops':['sign']}
          ; unusable: "known" (it is a private key)        | {<known>,'d':'AQAB'}
          ; unusable: "a" (it contains only a certificate (x5c); the provider must also publish n and e, or x and y) | {'kty':'RSA','kid':'a','x5c':['MII']}
          ; unusable: "a" (The public exponent value must not be null) | {'kty':'RSA','kid':'a','n':'AA','e':''}
          ; unusable: "a" (Invalid EC JWK: The 'x' and 'y' public coordinates are not on the P-256 curve) | {'kty':'EC','kid':'a','crv':'P-256','x':'AA','y':'AA'}
          ; unusable: "a?b" (an RSA key must have at least 2048 bits, but this one has 1) | {'kty':'RSA','kid':'a\\nb','n':'AQ','e':'AQAB'}
          -                                                | {<known>,'use':'enc'}
          -                                                | {<known>,'use':'x509-svid'}
          +                                                | {<known>,'use':'jwt-svid'}
          +                                                | {<known>,'key_ops':['sign','verify','other']}
          +                                                | {<known>,'use':'','alg':'','key_ops':[],'d':''}
          +                                                | {<known>,'use':null,'x5c':['-----BEGIN'],'x5t':7,'exp':[]}
          """)
  void key_is_used_reported_as_unusable_or_ignored(String expected, String key)
      throws ParseException {
    String usable = expected.equals("+") ? "2 usable keys" : "1 usable key";
    assertEquals(usable + expected.replaceFirst("^[+-]$", ""), parse(key).toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'issuer':'https://a','jwks_uri':'https://a/keys'} | is a discovery document; set JWT_JWKS_URL to its jwks_uri, "https://a/keys"
          <html>                              | is not a JSON object
          null                                | contains no "keys" array
          {'kty':'EC','crv':'P-256'}          | contains no "keys" array
          {'keys':{}}                         | contains no "keys" array
          {'keys':[]}                         | contains no usable key
          {'keys':[{'kty':'oct','kid':'a'}]}  | contains no usable key: "a" (it is a symmetric key)
          """)
  void message_says_what_was_received_instead_of_a_usable_key_set(String document, String message) {
    provider.answer(body(document.replace('\'', '"').getBytes(UTF_8)));
    ConfigurationException failure = assertThrows(ConfigurationException.class, client()::fetch);
    String expected = "the response from \"" + provider.url().getAuthority() + "\" " + message;
    assertEquals(expected, failure.getMessage());
  }

  /** Nimbus itself counts whole bytes, so a modulus of 2047 bits would count as 2048 bits. */
  @ParameterizedTest
  @CsvSource({"2047, 1", "2048, 2"})
  void rsa_key_with_fewer_than_2048_bits_is_unusable(int bits, int usable) throws ParseException {
    Base64URL modulus = Base64URL.encode(BigInteger.ONE.shiftLeft(bits - 1).setBit(0));
    KeySet keys = parse("{'kty':'RSA','e':'AQAB','n':'" + modulus + "'}");
    assertEquals(usable, keys.usable().size());
  }

  /** If the exponent is 1, anyone can forge signatures. The JDK rejects such a key. */
  @Test
  void key_with_the_exponent_1_verifies_no_token() throws ParseException {
    Base64URL modulus = Base64URL.encode(BigInteger.ONE.shiftLeft(2047).setBit(0));
    KeySet keys = parse("{'kty':'RSA','e':'AQ','n':'" + modulus + "'}");
    TokenKeys.Snapshot known =
        new TokenKeys.Snapshot(new SecretKeys(null, List.of()), keys.usable());
    assertEquals(List.of(), known.find(new JWSHeader(JWSAlgorithm.RS256)));
  }

  @Test
  void key_without_an_id_may_verify_every_token_on_its_curve() {
    ECKey unnamed = new ECKey.Builder(KNOWN).keyID(null).build();
    ECKey other = new ECKey.Builder(IdentityProvider.key(Curve.P_384, "any")).keyID(null).build();
    JWKSet keys = new JWKSet(List.of(other.toPublicJWK(), unnamed, NEXT));
    JWSHeader named = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("any").build();

    assertEquals(List.of(unnamed), PublishedKey.selector(named).select(keys));
    JWSHeader anonymous = new JWSHeader(JWSAlgorithm.ES256);
    assertEquals(List.of(unnamed, NEXT), PublishedKey.selector(anonymous).select(keys));
  }

  /** Returns a key set that contains the key NEXT and this key. */
  private static KeySet parse(String key) throws ParseException {
    String other = key.replace("<known>", KNOWN.toJSONString().replaceAll("[{}]", ""));
    return KeySet.parse("{\"keys\":[" + NEXT + "," + other.replace('\'', '"') + "]}");
  }
}
