package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.function.Executable;
import org.plantstore.adapter.http.Tokens;

/** An identity provider that publishes a key set over HTTP, or fails, as a test demands. */
final class IdentityProvider implements AutoCloseable {

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger fetches = new AtomicInteger();
  private volatile HttpHandler handler;

  IdentityProvider(JWK... keys) {
    publish(keys);
    server = assertDoesNotThrow(() -> HttpServer.create(new InetSocketAddress("localhost", 0), 0));
    server.createContext(
        "/keys",
        exchange -> {
          fetches.incrementAndGet();
          try (exchange) {
            handler.handle(exchange);
          }
        });
    server.setExecutor(threads);
    server.start();
  }

  static ECKey key(Curve curve, String id) {
    return assertDoesNotThrow(() -> new ECKeyGenerator(curve).keyID(id).generate());
  }

  /** Returns a token with this key ID that is signed with the key. */
  static String token(String keyId, ECKey key) {
    return assertDoesNotThrow(() -> {
      ECDSASigner signer = new ECDSASigner(key);
      String algorithm = signer.supportedECDSAAlgorithm().getName();
      String header = "{\"alg\":\"" + algorithm + "\",\"kid\":\"" + keyId + "\"}";
      return Tokens.signed(header, algorithm, signer);
    });
  }

  /** Sends a body whose Content-Length may differ from its actual length. */
  static void send(HttpExchange exchange, int length, byte... body) throws IOException {
    exchange.sendResponseHeaders(200, length);
    exchange.getResponseBody().write(body);
    exchange.getResponseBody().flush();
  }

  URI url() {
    return URI.create("http://localhost:" + server.getAddress().getPort() + "/keys");
  }

  /** Publishes only the public parts of the keys. */
  void publish(JWK... keys) {
    String keySet = new JWKSet(List.of(keys)).toString();
    handler = exchange -> send(exchange, keySet.length(), keySet.getBytes(UTF_8));
  }

  void answerAfter(CountDownLatch latch) {
    HttpHandler before = handler;
    answer(exchange -> {
      assertDoesNotThrow(() -> latch.await());
      before.handle(exchange);
    });
  }

  void answer(HttpHandler other) {
    handler = other;
  }

  void goDown() {
    answer(exchange -> exchange.sendResponseHeaders(500, -1));
  }

  int fetches() {
    return fetches.get();
  }

  void awaitFetches(int number) {
    repeatUntil(() -> fetches() >= number, () -> {});
  }

  /** Repeats a step until the condition is met, or fails after a minute. */
  static void repeatUntil(BooleanSupplier isMet, Executable step) {
    long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
    while (!isMet.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, "not within a minute");
      assertDoesNotThrow(step);
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
