package org.plantstore.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.cert.CertificateException;
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

  /** Begins a call; asks the suppliers of the client. */
  Creation(PlantClient client) {
    this.client = client;
    end = System.nanoTime() + client.deadline.toNanos();
    headers = client.headers.get();
    token = client.token();
  }

  /** Retries until the deadline, with exponential back-off and full jitter. */
  @Override
  public Plant create(NewPlant plant) {
    try {
      for (long bound = 50_000_000; ; bound = Math.min(2 * bound, 6_400_000_000L)) {
        try {
          return attempt(plant);
        } catch (PlantStoreUnavailableException e) {
          long nanos = retryAfterNanos + ThreadLocalRandom.current().nextLong(bound);
          if (nanos > end - System.nanoTime()) {
            throw e;
          }
          NANOSECONDS.sleep(nanos);
        }
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
    ByteArrayOutputStream received = new ByteArrayOutputStream();
    long enough = (1 << 16) + 6L * body.length(); // an error, or the plant in escapes
    HttpResponse.BodyHandler<Void> receiver =
        HttpResponse.BodyHandlers.ofByteArrayConsumer(
            part -> part.filter(bytes -> received.size() < enough).ifPresent(received::writeBytes));
    CompletableFuture<HttpResponse<Void>> exchange =
        client.http.sendAsync(request.build(), receiver);
    try { // a time-out of the request would not include the body
      long nanos = Math.min(client.deadline.toNanos() / 3, end - System.nanoTime());
      HttpResponse<Void> response = exchange.get(nanos, NANOSECONDS);
      String responseId = header(response, REQUEST_ID);
      if (responseId.startsWith(ID_PREFIX) && !responseId.equals(id)) { // a proxy sent it twice
        throw new PlantStoreUnavailableException(message("a response to another request"));
      }
      return decide(plant, response, read(received.toByteArray()));
    } catch (ExecutionException | TimeoutException e) {
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof CertificateException) {
          throw new UnexpectedResponseException(message(cause.toString()), 0, 0, null);
        }
      }
      String reason = Objects.requireNonNullElse(e.getMessage(), "no response in time");
      throw new PlantStoreUnavailableException(message(reason));
    } finally {
      exchange.cancel(true); // closes the connection, so that no late response is taken for another
    }
  }

  private Plant decide(
      NewPlant plant, HttpResponse<?> response, Map<String, @Nullable String> answer) {
    int status = response.statusCode();
    if (status == 200
        && plant.name().equals(answer.get("name"))
        && Objects.equals(plant.tag(), answer.get("tag"))) {
      return plant.plant();
    }
    String number = String.valueOf(answer.get("error"));
    int error = number.matches("\\d{4}") ? Integer.parseInt(number) : 0;
    String reason =
        message(
            ("status " + status + ", request " + header(response, REQUEST_ID))
                + (", Content-Type " + header(response, "Content-Type"))
                + (", Content-Encoding " + header(response, "Content-Encoding"))
                + (", error " + number + ": " + answer.get("message")));
    if (status == 400 && error == 3001) {
      throw new PlantIdTakenException(plant.id());
    }
    if (status == 400 && (error == 1005 || error / 1000 == 2)) {
      String tag = Objects.requireNonNullElse(plant.tag(), "");
      String large = tag.length() > plant.name().length() ? "tag" : "name";
      String field = Map.of(2001, "id", 2002, "name", 2003, "tag").getOrDefault(error, large);
      throw new InvalidPlantException(
          plant, List.of(new InvalidPlantException.Violation(field, "is refused: " + reason)));
    }
    if (status == 401 && !hasReplacedToken) {
      token = client.token();
      hasReplacedToken = true;
    } else if (status < 500 && !List.of(408, 425, 429).contains(status)) {
      String id = response.headers().firstValue(REQUEST_ID).orElse(null);
      throw new UnexpectedResponseException(reason, status, error, id);
    }
    String seconds = header(response, "Retry-After");
    retryAfterNanos = seconds.matches("\\d{1,9}") ? 1_000_000_000 * Long.parseLong(seconds) : 0;
    throw new PlantStoreUnavailableException(reason);
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

  /** Returns a message with a text that others have written, unless it contains the token. */
  private String message(String text) {
    String safe = text.contains(token) ? "a text with the token" : "%.400s".formatted(text);
    return client.plants + ": " + safe;
  }
}
