package org.plantstore.client;

import static java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME;
import static java.time.temporal.ChronoUnit.SECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
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

  private static final AtomicLong CALLS = new AtomicLong();
  private static final long FIRST_BACK_OFF_NANOS = 50_000_000;
  private static final int MAX_DOUBLINGS = 7; // up to 6.4 s
  private static final String NO_RESPONSE = "there was no response in time";
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  /** The size of an error; a plant is up to six times as large as in the request. */
  private static final int MAX_ERROR_BYTES = 1 << 16;

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
  private final Executor executor;
  private final long call = CALLS.incrementAndGet();
  private final HttpRequest.Builder request;
  private final CompletableFuture<Plant> result = new CompletableFuture<>();
  private final long end;
  private final long maxResponseBytes;
  private Map<String, String> headers = Map.of();
  private int attempts;
  private @Nullable String refusedToken;
  private volatile String lastFailure = "";

  @SuppressWarnings("ArrayRecordComponent") // nobody compares responses
  private record Response(ResponseInfo info, byte[] body) {}

  Creation(PlantClient client, NewPlant plant, Executor executor) {
    this.client = client;
    this.plant = plant;
    this.executor = executor;
    end = System.nanoTime() + client.deadlineNanos;
    byte[] body = Json.write(plant);
    maxResponseBytes = MAX_ERROR_BYTES + 6L * body.length;
    request =
        HttpRequest.newBuilder(client.plants)
            .version(HttpClient.Version.HTTP_1_1)
            .POST(BodyPublishers.ofByteArray(body));
  }

  static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "plant-client");
    thread.setDaemon(true);
    return thread;
  }

  CompletableFuture<Plant> start() {
    run(() -> {
      headers = client.headers.get();
      attempt();
    });
    return result;
  }

  private void attempt() {
    String token = client.tokens.kept(refusedToken);
    if (token != null) {
      send(token);
    } else {
      lastFailure = "no token was supplied in time";
      after(
          remainingNanos(),
          () -> {
            throw unavailable(lastFailure);
          });
      executor.execute(() ->
          run(() -> {
            String obtained = client.tokens.obtain(refusedToken, result);
            run(() -> send(obtained));
          }));
    }
  }

  private void send(String token) {
    attempts++;
    lastFailure = NO_RESPONSE;
    String id = ID_PREFIX + call + "." + attempts;
    request.setHeader(REQUEST_ID, id);
    headers.forEach(request::setHeader);
    request.setHeader("Content-Type", "application/json");
    request.setHeader("Authorization", "Bearer " + token);
    CompletableFuture<Response> response = new CompletableFuture<>();
    CompletableFuture<?> attempt =
        client.http.sendAsync(request.build(), info -> receive(info, id, response));
    response.whenComplete((received, failure) -> {
      if (received == null) {
        attempt.cancel(true);
        run(() -> retryUnlessPermanent(failure));
      } else {
        // Ends the attempt before the HTTP client does, which would wake a thread for it, or start
        // one: Java 17 on one or two processors then takes five times as long.
        attempt.complete(null);
        run(() -> evaluate(received, token));
      }
    });
    attempt.whenComplete((ended, failure) -> {
      if (!response.isDone()) {
        response.completeExceptionally(
            failure == null ? new ProtocolException("a proxy refused the connection") : failure);
      }
    });
    result.whenComplete((created, failure) -> response.cancel(true));
    // No effect on a response that has come.
    after(Math.min(client.deadlineNanos / 3, remainingNanos()), () -> response.cancel(true));
  }

  /** Collects the body of a response, and nothing that is too large for one of the service. */
  private BodySubscriber<?> receive(
      ResponseInfo info, String id, CompletableFuture<Response> response) {
    String responseId = info.headers().firstValue(REQUEST_ID).orElse(id);
    if (responseId.startsWith(ID_PREFIX) && !responseId.equals(id)) {
      // A proxy has sent a response twice. The next ones of the connection would be of others too,
      // so it is closed.
      response.completeExceptionally(new IOException("the response is none to this request"));
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    return BodySubscribers.mapping(
        BodySubscribers.ofByteArrayConsumer(part ->
            part.filter(bytes -> body.size() <= maxResponseBytes).ifPresent(body::writeBytes)),
        unused -> response.complete(new Response(info, body.toByteArray())));
  }

  /** A wrong certificate, address or protocol is permanent; a broken connection is not. */
  private void retryUnlessPermanent(Throwable failure) {
    String reason = "the connection failed";
    Throwable cause = failure;
    while (cause.getCause() != null && !(cause instanceof ConnectException)) {
      cause = cause.getCause();
    }
    if (cause instanceof ConnectException) {
      reason = "no connection could be opened";
    } else if (cause instanceof CancellationException) {
      reason = NO_RESPONSE;
    } else if (!(cause instanceof IOException)
        || cause instanceof ProtocolException
        || cause instanceof SSLException) {
      String message = client.plants + " is no plant store with a trusted certificate: ";
      throw new UnexpectedResponseException(message + cause.getMessage(), 0, 0, null);
    }
    retry(reason, 0);
  }

  private void evaluate(Response response, String token) {
    int status = response.info().statusCode();
    Map<String, @Nullable String> body = Json.read(response.body());
    if (status == 200
        && plant.name().equals(body.get("name"))
        && Objects.equals(plant.tag(), body.get("tag"))) {
      result.complete(plant.plant());
      return;
    }
    String sentId = response.info().headers().firstValue(REQUEST_ID).orElse(null);
    String requestId = sentId == null || sentId.contains(token) ? null : sentId;
    String number = String.valueOf(body.get("error"));
    int error = number.matches("\\d{4}") ? Integer.parseInt(number) : 0;
    String text = String.valueOf(body.get("message")).replace(token, "(the token)");
    String reason = "status " + status + ", request " + requestId;
    if (error != 0) {
      reason += ", error " + error + ": %.300s".formatted(text);
    }
    if (status == 400 && error == 3001) {
      throw new PlantIdTakenException(plant.id());
    } else if (status == 413 || (status == 400 && (error == 1005 || error / 1000 == 2))) {
      throw new InvalidPlantException(
          List.of(new Violation(field(error), "is refused: " + reason)));
    } else if ((status == 401 || status == 403) && refusedToken == null) {
      refusedToken = token;
      after(0, this::attempt); // the supplier may block, but not a thread of the HTTP client
    } else if (status >= 502 && status <= 504) {
      retry(reason, retryAfterSeconds(response.info()));
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
      case 2002 -> "name";
      case 2003 -> "tag";
      default -> isTagLonger ? "tag" : "name";
    };
  }

  /** Returns a time in seconds, or until a date (RFC 9110, section 10.2.3). */
  private static long retryAfterSeconds(ResponseInfo response) {
    String value = response.headers().firstValue("Retry-After").orElse("0");
    try {
      return value.matches("\\d+")
          ? Long.parseLong(value.substring(0, Math.min(value.length(), 9)))
          : SECONDS.between(Instant.now(), RFC_1123_DATE_TIME.parse(value, Instant::from));
    } catch (DateTimeException e) {
      return 0;
    }
  }

  /** Waits with exponential back-off and full jitter, unless the deadline would pass meanwhile. */
  private void retry(String reason, long retryAfterSeconds) {
    lastFailure = "after attempt " + attempts + ": " + reason;
    long bound = FIRST_BACK_OFF_NANOS << Math.min(attempts - 1, MAX_DOUBLINGS);
    long nanos =
        Math.max(0, retryAfterSeconds) * NANOS_PER_SECOND
            + ThreadLocalRandom.current().nextLong(bound);
    if (nanos > remainingNanos()) {
      throw unavailable(lastFailure);
    }
    after(nanos, this::attempt);
  }

  private long remainingNanos() {
    return end - System.nanoTime();
  }

  private static PlantStoreUnavailableException unavailable(String reason) {
    return new PlantStoreUnavailableException("the plant store is unavailable; " + reason);
  }

  /** Runs a step after a time, unless the call has ended. */
  private void after(long nanos, Runnable step) {
    Future<?> timer = TIMER.schedule(() -> THREADS.execute(() -> run(step)), nanos, NANOSECONDS);
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
