package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
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
import org.jspecify.annotations.Nullable;

/** An identity provider that publishes a key set over HTTP, and can be down. */
public final class IdentityProvider implements AutoCloseable {

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger fetches = new AtomicInteger();
  private volatile String keySet = "";
  private volatile int status = 200;
  private volatile boolean dripping;
  private volatile @Nullable HttpHandler otherAnswer;

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
          HttpHandler other = otherAnswer;
          if (other != null) {
            try (exchange) {
              other.handle(exchange);
            }
            return;
          }
          byte[] body = keySet.getBytes(UTF_8);
          exchange.sendResponseHeaders(status, body.length);
          for (int sent = 0; dripping && sent < body.length - 1; sent++) {
            exchange.getResponseBody().write(body, sent, 1);
            exchange.getResponseBody().flush();
            LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
          }
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.setExecutor(threads);
    server.start();
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
  public void answer(HttpHandler answer) {
    otherAnswer = answer;
  }

  /** Answers from now on, but so slowly that no answer ever is whole. */
  public void drip() {
    dripping = true;
  }

  public void goDown() {
    status = 500;
  }

  public void comeBack() {
    status = 200;
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
