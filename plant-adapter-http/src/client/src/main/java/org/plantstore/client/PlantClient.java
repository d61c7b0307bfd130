package org.plantstore.client;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Creates plants in a remote plant store by {@code POST /plants}:
 *
 * <pre>{@code
 * CreatePlant createPlant =
 *     PlantClient.builder(URI.create("https://plants.example"), () -> token).build();
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 *
 * <p>A call makes one attempt after the other. An attempt is repeated if its connection was refused
 * or closed, if there was no response within a third of the deadline, or if the response has status
 * 502, 503 or 504. Each repetition is safe, because creating is idempotent. The first follows after
 * a random time of up to 50 ms. This bound doubles with each attempt, up to 6.4 s, and a {@code
 * Retry-After} in seconds (RFC 9110, section 10.2.3) is added to the time.
 *
 * <p>A call throws the exceptions of the port:
 *
 * <ul>
 *   <li>{@link org.plantstore.domain.PlantIdTakenException} for error 3001;
 *   <li>{@link org.plantstore.domain.InvalidPlantException} for errors 2001 to 2003, and for 1005,
 *       which limits the size of a plant;
 *   <li>{@link PlantStoreUnavailableException} if the deadline has passed, or would pass while the
 *       call waits for its next attempt, if the thread is interrupted, or for status 408 or 429.
 * </ul>
 *
 * <p>For any other response, it throws {@link UnexpectedResponseException}: a person has to change
 * the configuration. An exception of a supplier is thrown as it is.
 *
 * <p>Immutable, and safe for use by many threads. The connections belong to the {@link HttpClient}.
 */
public final class PlantClient implements CreatePlant {

  final URI plants;
  final Tokens tokens;
  final Duration deadline;
  final HttpClient http;
  final Supplier<Map<String, String>> headers;

  /** Begins the ids of the requests of this client, and of no other. */
  final String idPrefix = UUID.randomUUID().toString().replace("-", "") + "-";

  private final AtomicLong calls = new AtomicLong();

  private PlantClient(Builder builder) {
    plants = builder.plants;
    tokens = new Tokens(builder.tokens);
    deadline = builder.deadline;
    http = builder.http == null ? HttpClient.newHttpClient() : builder.http;
    headers = builder.headers;
  }

  /**
   * Returns a builder of a client.
   *
   * @param address the address of the service, {@code http} or {@code https}, with the path that a
   *     proxy has in front of {@code /plants}, if any
   * @param tokens supplies a bearer token. The client keeps it until it is refused with status 401;
   *     then the client asks for another, once in a call. The supplier may block. One thread at a
   *     time calls it: one of the executor of {@code createAsync}, or of the common pool
   * @return a builder with the default settings
   * @throws IllegalArgumentException if the address has another scheme, no host, or a user, query
   *     or fragment
   */
  public static Builder builder(URI address, Supplier<String> tokens) {
    return new Builder(address, tokens);
  }

  @Override
  public Plant create(NewPlant plant) {
    CompletableFuture<Plant> creation =
        createAsync(plant, ForkJoinPool.commonPool()).toCompletableFuture();
    try {
      return creation.get();
    } catch (InterruptedException e) {
      creation.cancel(true);
      Thread.currentThread().interrupt();
      throw new PlantStoreUnavailableException("the call was interrupted");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) e.getCause(); // nothing here throws a checked one
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>No thread waits for the service. Dependents run on a thread of the HTTP client or of a timer
   * that is shared by the process. Cancelling the stage aborts the call.
   *
   * @param executor calls the supplier of tokens
   */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    return new Creation(this, requireNonNull(plant, "plant"), requireNonNull(executor, "executor"))
        .start();
  }

  String nextId() {
    return idPrefix + calls.incrementAndGet();
  }

  /** The settings of a client. Not safe for use by many threads. */
  public static final class Builder {

    private final URI plants;
    private final Supplier<String> tokens;
    private Duration deadline = Duration.ofSeconds(30);
    private @Nullable HttpClient http;
    private Supplier<Map<String, String>> headers = Map::of;

    private Builder(URI address, Supplier<String> tokens) {
      if (!address.toString().matches("(?i)https?://[^/?#@]+(/[^?#]*)?")
          || address.getHost() == null) {
        throw new IllegalArgumentException(
            "address must be http:// or https:// with a host, without a user, query or fragment");
      }
      plants = URI.create(address.toString().replaceFirst("/*$", "/plants"));
      this.tokens = requireNonNull(tokens, "tokens");
    }

    /**
     * Sets the deadline of a call, with all attempts and waits. The default is 30 s. An attempt may
     * take a third; a service with default settings decides within 6 s.
     *
     * @param deadline the deadline, 1 ms to 1 day
     * @return this builder
     * @throws IllegalArgumentException if the deadline is out of range
     */
    public Builder deadline(Duration deadline) {
      if (deadline.compareTo(Duration.ofMillis(1)) < 0
          || deadline.compareTo(Duration.ofDays(1)) > 0) {
        throw new IllegalArgumentException("deadline must be 1 ms to 1 day but is " + deadline);
      }
      this.deadline = deadline;
      return this;
    }

    /**
     * Sets the HTTP client, and with it the executor, TLS and the proxy. The default is {@link
     * HttpClient#newHttpClient()}.
     *
     * @param http the client
     * @return this builder
     * @throws IllegalArgumentException if it follows redirects, which would pass the token on
     */
    public Builder httpClient(HttpClient http) {
      if (http.followRedirects() != HttpClient.Redirect.NEVER) {
        throw new IllegalArgumentException("the HTTP client must not follow redirects");
      }
      this.http = http;
      return this;
    }

    /**
     * Sets further headers, such as {@code traceparent} (W3C Trace Context), or an {@code
     * X-Request-Id} of 1 to 64 letters, digits, {@code .}, {@code _} and {@code -} in place of one
     * that the client makes. By its own ids, the client finds out that a proxy has sent a response
     * twice. The default is none.
     *
     * @param headers supplies the headers of a call and all its attempts, in the thread of the
     *     caller
     * @return this builder
     */
    public Builder headers(Supplier<Map<String, String>> headers) {
      this.headers = requireNonNull(headers, "headers");
      return this;
    }

    /**
     * Returns a client with these settings, which are not changed by later calls of this builder.
     *
     * @return a client, which has not connected yet
     */
    public PlantClient build() {
      return new PlantClient(this);
    }
  }
}
