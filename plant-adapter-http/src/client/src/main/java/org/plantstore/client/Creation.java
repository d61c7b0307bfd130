package org.plantstore.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.InvalidPlantException.Violation;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/** One call: attempts until one is decisive. When the result is completed, all of it ends. */
final class Creation {

  private static final String REQUEST_ID = "X-Request-Id";

  /** Begins the ids of the requests of this process, and of no other. */
  private static final String ID_PREFIX = UUID.randomUUID() + "-";

  private static final AtomicLong CALLS = new AtomicLong();
  private static final long FIRST_BACK_OFF_NANOS = 50_000_000;
  private static final int MAX_DOUBLINGS = 7; // up to 6.4 s

  private final PlantClient client;
  private final NewPlant plant;
  private final Executor executor;
  private final String id = ID_PREFIX + CALLS.incrementAndGet();
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
    end = System.nanoTime() + client.deadlineNanos;
    request =
        HttpRequest.newBuilder(client.plants)
            .version(HttpClient.Version.HTTP_1_1)
            .header("Content-Type", "application/json")
            .header(REQUEST_ID, id)
            .POST(BodyPublishers.ofByteArray(Json.write(plant)));
  }

  CompletableFuture<Plant> start() {
    after(
        client.deadlineNanos,
        () -> {
          throw unavailable(lastFailure);
        });
    run(() -> {
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
      executor.execute(() -> run(() -> send(client.tokens.obtain(refusedToken))));
    }
  }

  private void send(String token) {
    attempts++;
    request.setHeader("Authorization", "Bearer " + token);
    CompletableFuture<HttpResponse<byte[]>> exchange =
        client.http.sendAsync(request.build(), this::subscriber);
    result.whenComplete((created, failure) -> exchange.cancel(true));
    after(client.deadlineNanos / 3, () -> exchange.cancel(true)); // no effect on a completed one
    exchange.whenComplete((response, failure) ->
        run(() -> {
          if (response == null) {
            retryUnlessUntrusted(failure);
          } else {
            evaluate(response, token);
          }
        }));
  }

  /**
   * Fails if the response is that of another request, because a proxy has sent it twice. Then the
   * connection is closed: its further responses would be of others too.
   */
  private BodySubscriber<byte[]> subscriber(ResponseInfo response) {
    String responseId = response.headers().firstValue(REQUEST_ID).orElse(id);
    if (responseId.startsWith(ID_PREFIX) && !responseId.equals(id)) {
      throw new IllegalStateException("the response is that of another request");
    }
    return BodySubscribers.ofByteArray();
  }

  private void retryUnlessUntrusted(Throwable failure) {
    String reason = "the connection failed";
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateException) {
        String message = client.plants + " has no trusted certificate: " + cause.getMessage();
        throw new UnexpectedResponseException(message, 0, 0, null);
      } else if (cause instanceof ConnectException) {
        reason = "no connection could be opened";
      } else if (cause instanceof CancellationException) {
        reason = "there was no response within a third of the deadline";
      }
    }
    retry(reason, 0);
  }

  private void evaluate(HttpResponse<byte[]> response, String token) {
    int status = response.statusCode();
    String requestId = response.headers().firstValue(REQUEST_ID).orElse(null);
    Map<String, @Nullable String> body = Json.read(response.body());
    String number = String.valueOf(body.get("error"));
    int error = number.matches("\\d{4}") ? Integer.parseInt(number) : 0;
    String text = String.valueOf(body.get("message")).replace(token, "(the token)");
    String reason = "status " + status + ", request " + requestId;
    if (error != 0) {
      reason += ", error " + error + ": %.300s".formatted(text);
    }
    if (status == 200
        && plant.name().equals(body.get("name"))
        && Objects.equals(plant.tag(), body.get("tag"))) {
      result.complete(plant.plant());
    } else if (status == 400 && error == 3001) {
      throw new PlantIdTakenException(plant.id());
    } else if (status == 400 && (error == 1005 || error / 1000 == 2)) {
      throw new InvalidPlantException(
          List.of(new Violation(field(error), "is refused: " + reason)));
    } else if (status == 401 && refusedToken == null) {
      refusedToken = token;
      attempt();
    } else if (status >= 502 && status <= 504) {
      retry(reason, retryAfterSeconds(response));
    } else if (status == 408 || status == 429) {
      throw unavailable(reason);
    } else {
      throw new UnexpectedResponseException(
          client.plants + " sent " + reason, status, error, requestId);
    }
  }

  /** Returns the field that is refused; of a plant that is too large, the longer one. */
  private String field(int error) {
    boolean isTagLonger = plant.tag() != null && plant.tag().length() > plant.name().length();
    return switch (error) {
      case 2001 -> "id";
      case 2003 -> "tag";
      case 1005 -> isTagLonger ? "tag" : "name";
      default -> "name";
    };
  }

  private static long retryAfterSeconds(HttpResponse<?> response) {
    String value = response.headers().firstValue("Retry-After").orElse("");
    return value.matches("\\d{1,9}") ? Long.parseLong(value) : 0;
  }

  /** Waits with exponential back-off and full jitter, unless the deadline would pass meanwhile. */
  private void retry(String reason, long retryAfterSeconds) {
    lastFailure = "after attempt " + attempts + ": " + reason;
    long bound = FIRST_BACK_OFF_NANOS << Math.min(attempts - 1, MAX_DOUBLINGS);
    long nanos = SECONDS.toNanos(retryAfterSeconds) + ThreadLocalRandom.current().nextLong(bound);
    if (nanos > end - System.nanoTime()) {
      throw unavailable(lastFailure);
    }
    after(nanos, this::attempt);
  }

  private static PlantStoreUnavailableException unavailable(String reason) {
    return new PlantStoreUnavailableException("the plant store is unavailable; " + reason);
  }

  /** Runs a step after a time, unless the call has ended. */
  private void after(long nanos, Runnable step) {
    CompletableFuture<Void> timer = new CompletableFuture<>();
    timer.completeOnTimeout(null, nanos, NANOSECONDS).thenRun(() -> run(step));
    result.whenComplete((created, failure) -> timer.cancel(false));
  }

  /** Runs a step, unless the call has ended. An exception of the step ends the call. */
  private void run(Runnable step) {
    try {
      if (!result.isDone()) {
        step.run();
      }
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }
}
