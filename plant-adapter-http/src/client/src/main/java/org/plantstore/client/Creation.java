package org.plantstore.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.InvalidPlantException.Violation;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/** One call: attempts until one is decisive. Used by one thread. */
final class Creation {

  private static final String REQUEST_ID = "X-Request-Id";

  /** Begins the ids of the requests of this process, and of no other. */
  private static final String ID_PREFIX = UUID.randomUUID() + "-";

  private final PlantClient client;
  private final NewPlant plant;
  private final String body;
  private final Map<String, String> headers;
  private final long end;
  private String token;
  private boolean hasReplacedToken;
  private int attempts;

  /** Begins a call; asks the suppliers of the client. */
  Creation(PlantClient client, NewPlant plant) {
    this.client = client;
    this.plant = plant;
    end = System.nanoTime() + client.deadlineNanos;
    body = Json.write(plant);
    headers = client.headers.get();
    token = client.token();
  }

  /** Makes attempts until the deadline. */
  Plant run() {
    while (true) {
      attempts++;
      String reason;
      long retryAfterSeconds = 0;
      try {
        HttpResponse<byte[]> response = send();
        int status = response.statusCode();
        Map<String, @Nullable String> answer = Json.read(response.body());
        if (status == 200
            && plant.name().equals(answer.get("name"))
            && Objects.equals(plant.tag(), answer.get("tag"))) {
          return plant.plant();
        }
        if (status == 401 && !hasReplacedToken) {
          hasReplacedToken = true;
          token = client.token();
          continue;
        }
        reason = reasonOf(response, answer);
        if (status < 500 && !List.of(408, 425, 429).contains(status)) {
          throw refusal(response, answer, reason);
        }
        String seconds = response.headers().firstValue("Retry-After").orElse("");
        retryAfterSeconds = seconds.matches("\\d{1,9}") ? Long.parseLong(seconds) : 0;
      } catch (IOException e) {
        reason = reasonOf(e);
      }
      pause(reason, retryAfterSeconds);
    }
  }

  private HttpResponse<byte[]> send() throws IOException {
    String id = ID_PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong());
    HttpRequest.Builder request =
        HttpRequest.newBuilder(client.plants)
            .version(HttpClient.Version.HTTP_1_1)
            .POST(BodyPublishers.ofString(body))
            .setHeader(REQUEST_ID, id);
    headers.forEach(request::setHeader);
    request.setHeader("Content-Type", "application/json");
    request.setHeader("Authorization", "Bearer " + token);
    CompletableFuture<HttpResponse<byte[]>> exchange =
        client.http.sendAsync(request.build(), info -> receive(info, id));
    try { // a time-out of the request would not include the body
      return exchange.get(Math.min(client.deadlineNanos / 3, end - System.nanoTime()), NANOSECONDS);
    } catch (TimeoutException e) {
      throw new IOException("there was no response in time");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable("the call was interrupted");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException broken ? broken : new IOException(e.getCause());
    } finally {
      exchange.cancel(true); // closes the connection, so that no late response is taken for another
    }
  }

  /** Collects the body of a response, or fails, so that the HTTP client closes the connection. */
  private BodySubscriber<byte[]> receive(ResponseInfo info, String id) {
    String responseId = info.headers().firstValue(REQUEST_ID).orElse(id);
    boolean isOfAnother = responseId.startsWith(ID_PREFIX) && !responseId.equals(id);
    long maxBytes = (1 << 16) + 6L * body.length(); // an error, or the plant in escapes
    ByteArrayOutputStream received = new ByteArrayOutputStream();
    return BodySubscribers.mapping(
        BodySubscribers.ofByteArrayConsumer(part -> {
          part.ifPresent(received::writeBytes);
          if (isOfAnother) { // a proxy has sent it twice, so the next ones are of others too
            throw new CompletionException(new IOException("the response is of another request"));
          }
          if (received.size() > maxBytes) {
            throw new CompletionException(new ProtocolException("the response is too large"));
          }
        }),
        unused -> received.toByteArray());
  }

  /** Returns why an attempt has failed; throws UnexpectedResponseException if others would too. */
  private String reasonOf(IOException failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && !(cause instanceof ConnectException)) {
      cause = cause.getCause();
    }
    String reason = Objects.requireNonNullElse(cause.getMessage(), "the connection failed");
    if (!(cause instanceof IOException)
        || cause instanceof ProtocolException
        || cause instanceof SSLException) {
      String message = client.plants + " is no plant store with a trusted certificate: ";
      throw new UnexpectedResponseException(message + withoutToken(reason), 0, 0, null);
    }
    return withoutToken(reason);
  }

  private String reasonOf(HttpResponse<?> response, Map<String, @Nullable String> answer) {
    String sent =
        answer.get("error") == null
            ? "Content-Type %s, Content-Encoding %s"
                .formatted(header(response, "Content-Type"), header(response, "Content-Encoding"))
            : "error %s: %s".formatted(answer.get("error"), answer.get("message"));
    String id = header(response, REQUEST_ID);
    return withoutToken("status " + response.statusCode() + ", request %s, %s".formatted(id, sent));
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("none");
  }

  /** Returns the beginning of a text that others have written, unless it contains the token. */
  private String withoutToken(String text) {
    return text.contains(token) ? "it sends the token back" : "%.400s".formatted(text);
  }

  private RuntimeException refusal(
      HttpResponse<?> response, Map<String, @Nullable String> answer, String reason) {
    String number = String.valueOf(answer.get("error"));
    int error = number.matches("\\d{4}") ? Integer.parseInt(number) : 0;
    if (response.statusCode() == 400 && error == 3001) {
      return new PlantIdTakenException(plant.id());
    }
    if (response.statusCode() == 400 && (error == 1005 || error / 1000 == 2)) {
      String tag = Objects.requireNonNullElse(plant.tag(), "");
      String longer = tag.length() > plant.name().length() ? "tag" : "name";
      String field = Map.of(2001, "id", 2002, "name", 2003, "tag").getOrDefault(error, longer);
      return new InvalidPlantException(List.of(new Violation(field, "is refused: " + reason)));
    }
    String id = response.headers().firstValue(REQUEST_ID).orElse(null);
    return new UnexpectedResponseException(
        client.plants + " sent " + reason,
        response.statusCode(),
        error,
        id == null || id.contains(token) ? null : id);
  }

  /** Waits with exponential back-off and full jitter, unless the deadline would pass meanwhile. */
  private void pause(String reason, long retryAfterSeconds) {
    long bound = 50_000_000L << Math.min(attempts - 1, 7); // 50 ms to 6.4 s
    long nanos = SECONDS.toNanos(retryAfterSeconds) + ThreadLocalRandom.current().nextLong(bound);
    if (nanos > end - System.nanoTime()) {
      throw unavailable(reason);
    }
    try {
      NANOSECONDS.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable("the call was interrupted");
    }
  }

  private PlantStoreUnavailableException unavailable(String reason) {
    return new PlantStoreUnavailableException(
        "the plant store is unavailable; after attempt " + attempts + ": " + reason);
  }
}
