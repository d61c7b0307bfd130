package org.plantstore.app;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.plantstore.app.development.DevelopmentKey;

/** A client of a service on this machine: caller, probe and scraper. */
abstract class ServiceClient {

  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static final Set<Integer> HANDED_OUT = ConcurrentHashMap.newKeySet();

  final int port = freePort();
  final int managementPort = freePort();

  URI address() {
    return URI.create("http://localhost:" + port);
  }

  URI managementAddress() {
    return URI.create("http://localhost:" + managementPort);
  }

  /** Returns a token that is valid wherever {@link DevelopmentKey} is the key. */
  static String token() {
    return DevelopmentKey.token(Duration.ofHours(1));
  }

  /** Returns a create with a valid token and without a body. */
  static HttpRequest.Builder createRequest(URI service) {
    return HttpRequest.newBuilder(service.resolve("/plants"))
        .header("Authorization", "Bearer " + token())
        .header("Content-Type", "application/json");
  }

  HttpResponse<String> create(String json) {
    return create(json, Map.of());
  }

  HttpResponse<String> create(long id, String name) {
    return create(String.format(Locale.ROOT, "{\"id\":%d,\"name\":\"%s\"}", id, name));
  }

  CompletableFuture<HttpResponse<String>> beginCreate(String json) {
    return begin(createRequest(address()).POST(BodyPublishers.ofString(json)));
  }

  HttpResponse<String> create(String json, Map<String, String> headers) {
    HttpRequest.Builder request = createRequest(address());
    headers.forEach(request::setHeader);
    return send(request.POST(BodyPublishers.ofString(json)));
  }

  HttpResponse<String> get(String path, Map<String, String> headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(address().resolve(path));
    headers.forEach(request::header);
    return send(request);
  }

  HttpRequest.Builder atManagement(String path) {
    return HttpRequest.newBuilder(managementAddress().resolve(path));
  }

  HttpResponse<String> health(String kind) {
    return send(atManagement("/health/" + kind));
  }

  String metrics() {
    return send(atManagement("/prometheus")).body();
  }

  static HttpResponse<String> send(HttpRequest.Builder request) {
    return begin(request).join();
  }

  private static CompletableFuture<HttpResponse<String>> begin(HttpRequest.Builder request) {
    return CLIENT.sendAsync(request.timeout(Await.LIMIT).build(), BodyHandlers.ofString());
  }

  /** Returns the status of the readiness, or -1 if the port is closed. */
  int readiness() {
    try {
      return health("readiness").statusCode();
    } catch (CompletionException e) {
      return -1;
    }
  }

  boolean isOpen() {
    try (Socket socket = new Socket("localhost", port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns a free port, which no other caller of this method gets, and which no client has as its
   * own: the kernel chooses theirs above 32767.
   */
  static int freePort() {
    Random random = new Random();
    while (true) {
      try (ServerSocket free = new ServerSocket(random.nextInt(10_000, 32_768))) {
        if (HANDED_OUT.add(free.getLocalPort())) {
          return free.getLocalPort();
        }
      } catch (IOException e) {
        // It is taken: try another.
      }
    }
  }
}
