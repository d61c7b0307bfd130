package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** An identity provider that publishes a key set over HTTP, and can be down. */
public final class IdentityProvider implements AutoCloseable {

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger fetches = new AtomicInteger();
  private volatile String keySet = "";
  private volatile HttpHandler answer = this::answerKeySet;

  public IdentityProvider(JWK... keys) {
    publish(keys);
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext(
        "/keys",
        exchange -> {
          fetches.incrementAndGet();
          try (exchange) {
            answer.handle(exchange);
          }
        });
    server.setExecutor(threads);
    server.start();
  }

  private void answerKeySet(HttpExchange exchange) throws IOException {
    byte[] body = keySet.getBytes(UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
  }

  private void dripKeySet(HttpExchange exchange) throws IOException {
    byte[] body = keySet.getBytes(UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    for (byte part : body) {
      exchange.getResponseBody().write(part);
      exchange.getResponseBody().flush();
      LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
    }
  }

  public String url() {
    return "http://localhost:" + server.getAddress().getPort() + "/keys";
  }

  public void publish(JWK... keys) {
    publish(new JWKSet(List.of(keys)).toString(true));
  }

  public void publish(String newKeySet) {
    keySet = newKeySet;
  }

  /** Has every further fetch answered in this way. */
  public void answer(HttpHandler other) {
    answer = other;
  }

  /** Sends the key set from now on, but so slowly that nobody waits for its end. */
  public void drip() {
    answer = this::dripKeySet;
  }

  public void goDown() {
    answer = exchange -> exchange.sendResponseHeaders(500, -1);
  }

  public void comeBack() {
    answer = this::answerKeySet;
  }

  public int fetches() {
    return fetches.get();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
