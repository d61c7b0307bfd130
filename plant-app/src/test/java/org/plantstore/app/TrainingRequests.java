package org.plantstore.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * What one client of a service in training asks it for: mostly new plants, and some of the rest.
 */
final class TrainingRequests {

  private static final int ROUNDS = 50;
  private static final int PLANTS_IN_A_ROUND = 20;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(5);

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String token = ServiceProcess.token();
  private final URI service;
  private long id;

  /**
   * Makes a client with a connection of its own.
   *
   * @param firstId where the ids of its plants begin
   */
  TrainingRequests(URI service, long firstId) {
    this.service = service;
    this.id = firstId;
  }

  void send() {
    for (int round = 0; round < ROUNDS; round++) {
      for (int plant = 0; plant < PLANTS_IN_A_ROUND; plant++) {
        id++;
        require(200, create(token, newPlant("fern")));
      }
      require(200, create(token, newPlant("fern")));
      require(400, create(token, newPlant("moss")));
      require(400, create(token, "{\"id\":\"1\",\"name\":"));
      require(400, create(token, "{}"));
      require(401, create("a.b.c", newPlant("fern")));
      require(404, get("/nothing").header("Authorization", "Bearer " + token));
      require(200, get("/"));
      require(200, get("/openapi.yaml"));
    }
  }

  /** Sends one create again and again until a service that is starting has answered it. */
  void awaitFirstPlant(ServiceProcess process) {
    HttpRequest.Builder create = create(token, newPlant("fern"));
    while (status(create) != 200) {
      if (!process.isAlive()) {
        throw new IllegalStateException("the service has ended: " + process.errors());
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  private String newPlant(String name) {
    String tag = id % 2 == 0 ? "" : ",\"tag\":\"shade, \u00bd m\"";
    return "{\"id\":" + id + ",\"name\":\"" + name + "\"" + tag + "}";
  }

  private HttpRequest.Builder create(String bearer, String json) {
    return ServiceProcess.createRequest(service, bearer).POST(BodyPublishers.ofString(json));
  }

  private HttpRequest.Builder get(String path) {
    return HttpRequest.newBuilder(service.resolve(path));
  }

  private void require(int status, HttpRequest.Builder request) {
    int actual = status(request);
    if (actual != status) {
      throw new IllegalStateException(
          request.build() + " was answered with " + actual + " instead of " + status);
    }
  }

  /** Answers a status, or 0 if nobody listens. */
  private int status(HttpRequest.Builder request) {
    try {
      return client.send(request.timeout(TIMEOUT).build(), BodyHandlers.discarding()).statusCode();
    } catch (ConnectException e) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
