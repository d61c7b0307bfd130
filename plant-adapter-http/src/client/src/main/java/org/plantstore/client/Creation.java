package org.plantstore.client;

import static java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME;
import static java.time.temporal.ChronoUnit.SECONDS;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertificateException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/** The port for one call, which makes attempts until one is decisive. */
final class Creation implements CreatePlant {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String REQUEST_ID = "X-Request-Id";
  private static final String ID_PREFIX = "plant-client-";

  private final PlantClient client;
  private final Map<String, String> headers;
  private final long end;
  private String token;
  private boolean hasReplacedToken;
  private long retryAfterNanos;
  private String lastReason = "not sent in time, because other calls took too long";

  /** Begins a call; asks the suppliers of the client. */
  Creation(PlantClient client) {
    this.client = client;
    end = System.nanoTime() + client.deadline.toNanos();
    headers = requireNonNull(client.headers.get(), "headers");
    token = client.token();
  }

  /** Retries until the deadline, with exponential back-off and full jitter. */
  @Override
  public Plant create(NewPlant plant) {
    try {
      for (long bound = 50_000_000; ; bound = Math.min(2 * bound, 6_400_000_000L)) {
        long nanos = end - System.nanoTime();
        if (nanos <= 0 || !client.permits.tryAcquire(nanos, NANOSECONDS)) {
          throw unavailable(lastReason);
        }
        try {
          return attempt(plant);
        } catch (PlantStoreUnavailableException e) {
          nanos = retryAfterNanos + ThreadLocalRandom.current().nextLong(bound);
          if (nanos > end - System.nanoTime()) {
            throw e;
          }
        } finally {
          client.permits.release();
        }
        NANOSECONDS.sleep(nanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PlantStoreUnavailableException("the call was interrupted");
    }
  }

  private Plant attempt(NewPlant plant) throws InterruptedException {
    retryAfterNanos = 0;
    String id = ID_PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong());
    String tag = plant.tag() == null ? "" : ",\"tag\":" + quoted(plant.tag());
    String body = "{\"id\":" + plant.id() + ",\"name\":" + quoted(plant.name()) + tag + "}";
    HttpRequest.Builder request =
        HttpRequest.newBuilder(client.plants)
            .version(HttpClient.Version.HTTP_1_1)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .setHeader(REQUEST_ID, id);
    headers.forEach(request::setHeader);
    request.setHeader("Content-Type", "application/json");
    request.setHeader("Authorization", "Bearer " + token);
    CompletableFuture<HttpResponse<byte[]>> exchange =
        client.http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    try { // a timeout of the request would not include the body
      long nanos = Math.min(client.deadline.toNanos() / 3, end - System.nanoTime());
      HttpResponse<byte[]> response = exchange.get(nanos, NANOSECONDS);
      String responseId = header(response, REQUEST_ID);
      if (responseId.startsWith(ID_PREFIX) && !responseId.equals(id)) { // a proxy sent it twice
        throw unavailable("a response to another request");
      }
      return decide(plant, response);
    } catch (TimeoutException e) {
      throw unavailable("no response in time");
    } catch (ExecutionException e) {
      throw failure(requireNonNull(e.getCause()));
    } finally {
      exchange.cancel(true); // closes the connection, so that no late response is taken for another
    }
  }

  /** Returns the exception for a request without a response; a TLS mismatch cannot be retried. */
  private RuntimeException failure(Throwable failure) {
    boolean isRefused = failure instanceof ConnectException;
    String reason =
        requireNonNullElse(failure.getMessage(), isRefused ? "connection refused" : failure + "");
    boolean isPermanent =
        reason.matches("(?s).*(status line: \"\\x15|Unrecognized SSL message|fatal alert).*");
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      isPermanent |= cause instanceof CertificateException;
      if (cause instanceof UnresolvedAddressException) {
        return unavailable("the host " + client.plants.getHost() + " is unknown");
      }
    }
    return isPermanent
        ? new UnexpectedResponseException(message("no TLS connection: " + reason), 0, 0)
        : unavailable(reason);
  }

  private PlantStoreUnavailableException unavailable(String reason) {
    lastReason = reason;
    return new PlantStoreUnavailableException(message(reason));
  }

  private Plant decide(NewPlant plant, HttpResponse<byte[]> response) {
    // The body is null if a proxy refuses to make a tunnel.
    Map<String, @Nullable String> answer = read(requireNonNullElse(response.body(), new byte[0]));
    int status = response.statusCode();
    if (status == 200
        && plant.name().equals(answer.get("name"))
        && Objects.equals(plant.tag(), answer.get("tag"))) {
      return plant.plant();
    }
    String number = String.valueOf(answer.get("error"));
    int error = number.matches("\\d{4}") ? Integer.parseInt(number) : 0;
    String reason =
        ("status " + status + ", request " + header(response, REQUEST_ID))
            + (", Content-Type " + header(response, "Content-Type"))
            + (", Content-Encoding " + header(response, "Content-Encoding"))
            + (", error " + number + ": " + answer.get("message"));
    if (status == 400 && error == 3001) {
      throw new PlantIdTakenException(plant.id());
    }
    if (status == 400 && (error == 1005 || error / 1000 == 2)) {
      String tag = requireNonNullElse(plant.tag(), "");
      String large = tag.length() > plant.name().length() ? "tag" : "name";
      String field = Map.of(2001, "id", 2002, "name", 2003, "tag").getOrDefault(error, large);
      throw new InvalidPlantException(
          plant,
          List.of(new InvalidPlantException.Violation(field, "is refused: " + message(reason))));
    }
    if (status == 401 && !hasReplacedToken) {
      token = client.token();
      hasReplacedToken = true;
    } else if (status < 500 && !List.of(408, 425, 429).contains(status)) {
      throw new UnexpectedResponseException(message(reason), status, error);
    }
    retryAfterNanos = nanosUntil(header(response, "Retry-After"));
    throw unavailable(reason);
  }

  /** Returns the time until a number of seconds has passed, or a date is reached; else 0. */
  private static long nanosUntil(String time) {
    try {
      double seconds =
          time.matches("\\d+")
              ? Double.parseDouble(time)
              : Instant.now().until(RFC_1123_DATE_TIME.parse(time, Instant::from), SECONDS);
      return (long) (1e9 * Math.max(0, Math.min(seconds, 1e9)));
    } catch (DateTimeException e) {
      return 0;
    }
  }

  /** Returns the members of an object as text; none if there is no object. */
  private static Map<String, @Nullable String> read(byte[] body) {
    Map<String, @Nullable String> members = new HashMap<>();
    try (JsonParser json = JSON.createParser(body)) {
      json.nextToken();
      for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
        json.nextToken();
        members.put(name, json.getValueAsString()); // null for null, an object or an array
        json.skipChildren();
      }
      return members;
    } catch (IOException e) {
      return Map.of();
    }
  }

  private static String quoted(String text) {
    return '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("none");
  }

  /** Returns a one-line message that quotes the text, unless it contains the token. */
  private String message(String text) {
    String safe = text.contains(token) ? "a text with the token" : "%.400s".formatted(text);
    return client.plants + ": " + safe.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+", " ");
  }
}
