package org.plantstore.client;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.ByteArrayOutputStream;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertificateException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Performs a single create call: sends requests until a response is final or the deadline passes.
 */
final class Creation implements CreatePlant {

  private static final String ID_PREFIX = "plant-client-";
  private static final long FIRST_BACKOFF_NANOS = 50_000_000;
  private static final long MAX_BACKOFF_NANOS = 6_400_000_000L;

  /** The number of response body bytes that are kept, not counting the bytes of the plant. */
  private static final long MAX_RESPONSE_BYTES = 64 * 1024;

  /**
   * The maximum number of bytes that one character can occupy in JSON. For example, an escaped
   * control character can occupy six bytes.
   */
  private static final long BYTES_PER_CHARACTER = 6;

  private final PlantClient client;
  private final Map<String, String> headers;
  private final long end;
  private String token;
  private boolean hasReplacedToken;
  private long retryAfterNanos;
  private String lastReason =
      "the request was not sent in time, because the call waited for other calls or for a thread";

  /**
   * Sets the deadline, and calls the header supplier and the token supplier on the calling thread.
   */
  Creation(PlantClient client) {
    this.client = client;
    end = System.nanoTime() + client.deadline.toNanos();
    headers = requireNonNull(client.headers.get(), "headers");
    token = client.token();
  }

  /** Creates the plant, retrying with exponential back-off and full jitter until the deadline. */
  @Override
  public Plant create(NewPlant plant) {
    try {
      for (long bound = FIRST_BACKOFF_NANOS; ; bound = Math.min(2 * bound, MAX_BACKOFF_NANOS)) {
        long nanos = nanosLeft();
        if (nanos <= 0 || !client.permits.tryAcquire(nanos, NANOSECONDS)) {
          throw unavailable(lastReason);
        }
        try {
          return attempt(plant);
        } catch (PlantStoreUnavailableException e) {
          nanos = retryAfterNanos + ThreadLocalRandom.current().nextLong(bound);
          if (nanos > nanosLeft()) {
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

  private long nanosLeft() {
    return end - System.nanoTime();
  }

  private Plant attempt(NewPlant plant) throws InterruptedException {
    retryAfterNanos = 0;
    String id = ID_PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong());
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    String json = json(plant);
    long maxBytes = MAX_RESPONSE_BYTES + BYTES_PER_CHARACTER * json.length();
    CompletableFuture<HttpResponse<Void>> exchange =
        client.http.sendAsync(
            request(json, id),
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.filter(bytes -> body.size() < maxBytes).ifPresent(body::writeBytes)));
    try { // an HttpRequest's timeout would not cover the response body
      long nanos = Math.min(client.deadline.toNanos() / 3, nanosLeft());
      ServiceResponse response =
          new ServiceResponse(exchange.get(nanos, NANOSECONDS), body.toByteArray());
      if (response.id().startsWith(ID_PREFIX) && !response.id().equals(id)) {
        throw unavailable("the response belongs to another request"); // a proxy has sent it twice
      }
      return decide(plant, response);
    } catch (TimeoutException e) {
      throw unavailable("the response did not arrive in time");
    } catch (ExecutionException e) {
      throw failure(requireNonNull(e.getCause()));
    } finally {
      exchange.cancel(true); // closes the connection, so that no other call receives this response
    }
  }

  private static String json(NewPlant plant) {
    String tag = plant.tag() == null ? "" : ",\"tag\":" + quoted(plant.tag());
    return "{\"id\":" + plant.id() + ",\"name\":" + quoted(plant.name()) + tag + "}";
  }

  private HttpRequest request(String json, String id) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(client.plants)
            .version(HttpClient.Version.HTTP_1_1)
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .setHeader(ServiceResponse.REQUEST_ID, id);
    headers.forEach(request::setHeader);
    request.setHeader("Content-Type", "application/json");
    request.setHeader("Authorization", "Bearer " + token);
    return request.build();
  }

  private static String quoted(String text) {
    return '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }

  private Plant decide(NewPlant plant, ServiceResponse response) {
    if (response.confirms(plant)) {
      return plant.plant();
    }
    String reason = withoutToken(response.reason());
    if (response.status() == 401 && !hasReplacedToken) {
      token = client.token();
      hasReplacedToken = true;
    } else if (!response.permitsRetry()) {
      throw response.toException(plant, message(reason));
    }
    retryAfterNanos = response.retryAfterNanos();
    throw unavailable(reason);
  }

  /**
   * Returns the exception to throw if a request received no response. A retry cannot help if the
   * certificate is not trusted, or if only one side uses TLS.
   */
  private RuntimeException failure(Throwable failure) {
    if (isCausedBy(UnresolvedAddressException.class, failure)) {
      return unavailable("the host name " + client.plants.getHost() + " cannot be resolved");
    }
    boolean isRefused = failure instanceof ConnectException;
    String reason =
        withoutToken(
            requireNonNullElse(
                failure.getMessage(), isRefused ? "connection refused" : failure + ""));
    return isCausedBy(CertificateException.class, failure)
            || reason.matches(
                "(?s).*(status line: \"\\x15|[Uu]nrecognized SSL message|fatal alert).*")
        ? new UnexpectedResponseException(message("the TLS connection failed: " + reason), 0, 0)
        : unavailable(reason);
  }

  private static boolean isCausedBy(Class<?> type, @Nullable Throwable failure) {
    return failure != null && (type.isInstance(failure) || isCausedBy(type, failure.getCause()));
  }

  private PlantStoreUnavailableException unavailable(String reason) {
    lastReason = reason;
    return new PlantStoreUnavailableException(message(reason));
  }

  /** Returns the text, or a substitute if the text contains the token that was sent. */
  private String withoutToken(String text) {
    return text.contains(token) ? "the reason is not shown, because it contains the token" : text;
  }

  /** Returns a one-line message that quotes the text. */
  private String message(String text) {
    String quoted = "%.400s".formatted(text).replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+", " ");
    return client.plants + ": " + quoted;
  }
}
