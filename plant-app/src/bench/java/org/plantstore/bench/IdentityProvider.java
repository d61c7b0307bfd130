package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.jwk.JWKSet;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Publishes a key set over HTTP. */
final class IdentityProvider implements AutoCloseable {

  private final HttpServer server;

  private IdentityProvider(HttpServer server) {
    this.server = server;
  }

  static IdentityProvider start(JWKSet publicKeys) throws IOException {
    byte[] body = publicKeys.toString(true).getBytes(UTF_8);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/keys",
        exchange -> {
          exchange.getResponseHeaders().add("Content-Type", "application/jwk-set+json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return new IdentityProvider(server);
  }

  String url() {
    return "http://localhost:" + server.getAddress().getPort() + "/keys";
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
