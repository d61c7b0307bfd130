package org.plantstore.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.InvalidPlantException.Violation;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * One call: attempts, one after the other, until one has an outcome. Whatever ends the result, such
 * as its caller or the deadline, also ends the attempt or the wait.
 */
final class Creation {

  private static final String REQUEST_ID = "X-Request-Id";
  private static final Duration FIRST_WAIT = Duration.ofMillis(50);
  private static final int MAX_DOUBLINGS = 7; // up to 6.4 s
  private static final int MAX_MESSAGE_LENGTH = 300;

  private final PlantClient client;
  private final NewPlant plant;
  private final Executor executor;
  private final String id;
  private final HttpRequest.Builder request;
  private final CompletableFuture<Plant> result = new CompletableFuture<>();
  private final long end;
  private int attempts;
  private @Nullable String refusedToken;
  private volatile String lastFailure = "there was no response";

  Creation(PlantClient client, NewPlant plant, Executor executor) {
    this.client = client;
    this.plant = plant;
    this.executor = executor;
    id = client.nextId();
    end = System.nanoTime() + client.deadline.toNanos();
    request =
        HttpRequest.newBuilder(client.plants)
            .version(HttpClient.Version.HTTP_1_1)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(Json.write(plant)));
  }

  CompletableFuture<Plant> start() {
    after(client.deadline, () -> endUnavailable(lastFailure));
    orFail(() -> {
      request.setHeader(REQUEST_ID, id);
      client.headers.get().forEach(request::setHeader);
      attempt();
    });
    return result;
  }

  private void attempt() {
    String token = client.tokens.kept(refusedToken);
    if (token != null) {
      send(token);
    } else {
      executor.execute(() -> orFail(() -> send(client.tokens.obtain(refusedToken))));
    }
  }

  private void send(String token) {
    attempts++;
    Duration limit = client.deadline.dividedBy(3);
    request.setHeader("Authorization", "Bearer " + token);
    CompletableFuture<HttpResponse<byte[]>> exchange =
        client.http.sendAsync(request.build(), this::subscriber);
    result.whenComplete((created, failure) -> exchange.cancel(true));
    CompletableFuture<Void> timer = after(limit, () -> exchange.cancel(true));
    exchange.whenComplete((response, failure) -> {
      timer.cancel(false);
      if (!result.isDone()) {
        orFail(() -> {
          if (response == null) {
            retryUnlessUntrusted(failure, limit);
          } else {
            evaluate(response, token);
          }
        });
      }
    });
  }

  /**
   * Fails if the response is that of another request of this client, because a proxy has sent it
   * twice. Then the connection is closed: its further responses would be of others too.
   */
  private BodySubscriber<byte[]> subscriber(ResponseInfo response) {
    String responseId = response.headers().firstValue(REQUEST_ID).orElse(id);
    if (responseId.startsWith(client.idPrefix) && !responseId.equals(id)) {
      throw new IllegalStateException("the response is that of another request");
    }
    return BodySubscribers.ofByteArray();
  }

  private void retryUnlessUntrusted(Throwable failure, Duration limit) {
    String reason = "the connection failed";
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateException) {
        String message =
            "the certificate of " + client.plants + " is not trusted: " + cause.getMessage();
        throw new UnexpectedResponseException(message, 0, 0, null);
      } else if (cause instanceof ConnectException) {
        reason = "no connection could be opened";
      } else if (cause instanceof CancellationException) {
        reason = "there was no response within " + limit.toMillis() + " ms";
      }
    }
    retry(reason, 0);
  }

  private void evaluate(HttpResponse<byte[]> response, String token) {
    int status = response.statusCode();
    Map<String, Object> body = Json.read(response.body());
    int error = body.get("error") instanceof Integer number ? number : 0;
    String text = String.valueOf(body.get("message")).replace(token, "(the token)");
    String message = text.substring(0, Math.min(text.length(), MAX_MESSAGE_LENGTH));
    String reason = "status " + status + (error == 0 ? "" : ", error " + error + ": " + message);
    if (status == 200 && isPlant(body)) {
      result.complete(plant.plant());
    } else if (status == 400 && error == 3001) {
      throw new PlantIdTakenException(plant.id());
    } else if (status == 400 && (error == 1005 || error / 1000 == 2)) {
      throw new InvalidPlantException(List.of(violation(error, message)));
    } else if (status == 401 && refusedToken == null) {
      refusedToken = token;
      attempt();
    } else if (status >= 502 && status <= 504) {
      retry(reason, retryAfterSeconds(response));
    } else if (status == 408 || status == 429) {
      endUnavailable(reason);
    } else {
      String requestId = response.headers().firstValue(REQUEST_ID).orElse(null);
      throw new UnexpectedResponseException(
          client.plants + " gave an unexpected response: " + reason + ", request " + requestId,
          status,
          error,
          requestId);
    }
  }

  private boolean isPlant(Map<String, Object> body) {
    return plant.name().equals(body.get("name")) && Objects.equals(plant.tag(), body.get("tag"));
  }

  /** Returns the field and its rule; of a plant that is too large, the longer field. */
  private Violation violation(int error, String message) {
    boolean isTagLonger = plant.tag() != null && plant.tag().length() > plant.name().length();
    String field =
        switch (error) {
          case 2001 -> "id";
          case 2002 -> "name";
          case 2003 -> "tag";
          default -> isTagLonger ? "tag" : "name";
        };
    return new Violation(field, "is refused by the service: " + message);
  }

  private static long retryAfterSeconds(HttpResponse<?> response) {
    String value = response.headers().firstValue("Retry-After").orElse("");
    return value.matches("\\d{1,9}") ? Long.parseLong(value) : 0;
  }

  /** Waits with exponential back-off and full jitter, unless the deadline would pass meanwhile. */
  private void retry(String reason, long leastSeconds) {
    lastFailure = "after attempt " + attempts + ": " + reason;
    long bound = FIRST_WAIT.toNanos() << Math.min(attempts - 1, MAX_DOUBLINGS);
    Duration wait =
        Duration.ofSeconds(leastSeconds).plusNanos(ThreadLocalRandom.current().nextLong(bound));
    if (wait.compareTo(Duration.ofNanos(end - System.nanoTime())) < 0) {
      after(wait, () -> orFail(this::attempt));
    } else {
      endUnavailable(lastFailure);
    }
  }

  private void endUnavailable(String reason) {
    String message = "the plant store is unavailable; " + reason;
    result.completeExceptionally(new PlantStoreUnavailableException(message));
  }

  private void orFail(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }

  /** Runs a step after a time, unless the returned timer is cancelled or the result is there. */
  private CompletableFuture<Void> after(Duration time, Runnable step) {
    CompletableFuture<Void> timer = new CompletableFuture<>();
    timer.completeOnTimeout(null, time.toNanos(), NANOSECONDS).thenRun(step);
    result.whenComplete((created, failure) -> timer.cancel(false));
    return timer;
  }
}
