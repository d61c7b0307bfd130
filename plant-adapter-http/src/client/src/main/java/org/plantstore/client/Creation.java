package org.plantstore.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLException;
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

  /** Runs timers and suppliers of tokens, since either may block. */
  static final Executor THREADS = Executors.newCachedThreadPool(Creation::daemon);

  /** Not that of {@code CompletableFuture}, which Java 25 wakes for each timer. */
  private static final ScheduledThreadPoolExecutor TIMER =
      new ScheduledThreadPoolExecutor(1, Creation::daemon);

  static {
    TIMER.setRemoveOnCancelPolicy(true);
  }

  private final PlantClient client;
  private final NewPlant plant;
  private final String body;
  private final CompletableFuture<Plant> result = new CompletableFuture<>();
  private final long end;
  private final long maxResponseBytes;
  private Map<String, String> headers = Map.of();
  private volatile CompletableFuture<?> current = CompletableFuture.completedFuture(null);
  private int attempts;
  private volatile String token = "";
  private boolean hasReplacedToken;

  Creation(PlantClient client, NewPlant plant) {
    this.client = client;
    this.plant = plant;
    end = System.nanoTime() + client.deadlineNanos;
    body = Json.write(plant);
    maxResponseBytes = (1 << 16) + 6L * body.length(); // an error, or the plant in escapes
  }

  static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "plant-client");
    thread.setDaemon(true);
    return thread;
  }

  CompletableFuture<Plant> start() {
    result.whenComplete((created, failure) -> current.cancel(true));
    run(() -> {
      headers = client.headers.get();
      attempt("");
    });
    return result;
  }

  private void attempt(String refusedToken) {
    attempts++;
    CompletableFuture<Runnable> next = new CompletableFuture<>();
    next.whenComplete(
        (step, failure) -> run(step == null ? () -> retryUnlessPermanent(failure) : step));
    current = next;
    if (result.isDone()) {
      next.cancel(true);
    }
    CompletableFuture<String> supplied = client.token(refusedToken);
    after(
        next,
        Math.min(client.deadlineNanos / 3, end - System.nanoTime()),
        () -> {
          String missing = supplied.isDone() ? "response" : "token";
          next.completeExceptionally(new IOException("there was no " + missing + " in time"));
        });
    supplied.whenComplete((text, failure) -> {
      if (failure != null) {
        result.completeExceptionally(failure.getCause());
      } else if (!next.isDone()) {
        token = text;
        run(() -> send(next));
      }
    });
  }

  private void send(CompletableFuture<Runnable> next) {
    String id = ID_PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong());
    HttpRequest.Builder request =
        HttpRequest.newBuilder(client.plants)
            .version(HttpClient.Version.HTTP_1_1)
            .POST(BodyPublishers.ofString(body))
            .setHeader(REQUEST_ID, id);
    headers.forEach(request::setHeader);
    request.setHeader("Content-Type", "application/json");
    request.setHeader("Authorization", "Bearer " + token);
    CompletableFuture<?> exchange =
        client.http.sendAsync(request.build(), info -> receive(info, id, next));
    // A response ends the exchange before the HTTP client does, which would wake a thread for it,
    // or start one: Java 17 on one or two processors then takes five times as long.
    next.handle((step, failure) -> step == null ? exchange.cancel(true) : exchange.complete(null));
    exchange.whenComplete((ended, failure) -> {
      if (!next.isDone()) {
        next.completeExceptionally(
            failure == null ? new ProtocolException("a proxy refused the connection") : failure);
      }
    });
  }

  /** Collects the body of a response, or fails, so that the HTTP client closes the connection. */
  private BodySubscriber<?> receive(
      ResponseInfo info, String id, CompletableFuture<Runnable> next) {
    String responseId = info.headers().firstValue(REQUEST_ID).orElse(id);
    boolean isOfAnother = responseId.startsWith(ID_PREFIX) && !responseId.equals(id);
    if (isOfAnother) {
      // A proxy has sent it twice, so the next ones of the connection are of others too.
      next.completeExceptionally(new IOException("the response is of another request"));
    }
    ByteArrayOutputStream received = new ByteArrayOutputStream();
    return BodySubscribers.mapping(
        BodySubscribers.ofByteArrayConsumer(part -> {
          part.ifPresent(received::writeBytes);
          if (isOfAnother || received.size() > maxResponseBytes) {
            throw new UncheckedIOException(new ProtocolException("the response is too large"));
          }
        }),
        unused -> next.complete(() -> evaluate(info, Json.read(received.toByteArray()))));
  }

  /** A wrong certificate, address or protocol is permanent; a broken connection is not. */
  private void retryUnlessPermanent(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && !(cause instanceof ConnectException)) {
      cause = cause.getCause();
    }
    if (!(cause instanceof IOException)
        || cause instanceof ProtocolException
        || cause instanceof SSLException) {
      String message = client.plants + " is no plant store with a trusted certificate: ";
      throw new UnexpectedResponseException(legible(message + cause.getMessage()), 0, 0, null);
    }
    retry(legible(Objects.requireNonNullElse(cause.getMessage(), "the connection failed")), 0);
  }

  /** Returns the beginning of a text that others have written, without the token. */
  private String legible(String text) {
    return "%.400s".formatted(token.isEmpty() ? text : text.replace(token, "(the token)"));
  }

  private void evaluate(ResponseInfo response, Map<String, @Nullable String> answer) {
    int status = response.statusCode();
    if (status == 200
        && plant.name().equals(answer.get("name"))
        && Objects.equals(plant.tag(), answer.get("tag"))) {
      result.complete(plant.plant());
      return;
    }
    Optional<String> requestId =
        response.headers().firstValue(REQUEST_ID).filter(id -> !id.contains(token));
    String number = String.valueOf(answer.get("error"));
    int error = number.matches("\\d{4}") ? Integer.parseInt(number) : 0;
    String text = error == 0 ? "" : ", error " + error + ": " + answer.get("message");
    String sent = "status " + status + ", request " + requestId.orElse("unknown") + text;
    String reason = legible(sent);
    if (status == 400 && error == 3001) {
      throw new PlantIdTakenException(plant.id());
    } else if (status == 413 || (status == 400 && (error == 1005 || error / 1000 == 2))) {
      String longer = String.valueOf(plant.tag()).length() > plant.name().length() ? "tag" : "name";
      String field = Map.of(2001, "id", 2002, "name", 2003, "tag").getOrDefault(error, longer);
      throw new InvalidPlantException(List.of(new Violation(field, "is refused: " + reason)));
    } else if ((status == 401 || status == 403) && !hasReplacedToken) {
      hasReplacedToken = true;
      attempt(token);
    } else if (status >= 502 && status <= 504) {
      String seconds = response.headers().firstValue("Retry-After").orElse("");
      retry(reason, seconds.matches("\\d{1,9}") ? Long.parseLong(seconds) : 0);
    } else if (status == 408 || status == 429) {
      throw unavailable(reason);
    } else {
      throw new UnexpectedResponseException(
          client.plants + " sent " + reason, status, error, requestId.orElse(null));
    }
  }

  /** Waits with exponential back-off and full jitter, unless the deadline would pass meanwhile. */
  private void retry(String reason, long retryAfterSeconds) {
    long bound = 50_000_000L << Math.min(attempts - 1, 7); // 50 ms to 6.4 s
    long nanos = SECONDS.toNanos(retryAfterSeconds) + ThreadLocalRandom.current().nextLong(bound);
    if (nanos > end - System.nanoTime()) {
      throw unavailable(reason);
    }
    after(result, nanos, () -> attempt(""));
  }

  private PlantStoreUnavailableException unavailable(String reason) {
    return new PlantStoreUnavailableException(
        "the plant store is unavailable; after attempt " + attempts + ": " + reason);
  }

  /** Runs a step after a time, unless something has ended by then. */
  private void after(CompletableFuture<?> something, long nanos, Runnable step) {
    Future<?> timer = TIMER.schedule(() -> THREADS.execute(() -> run(step)), nanos, NANOSECONDS);
    something.whenComplete((ended, failure) -> timer.cancel(false));
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
