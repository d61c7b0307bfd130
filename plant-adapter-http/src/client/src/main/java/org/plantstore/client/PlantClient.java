package org.plantstore.client;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Creates plants in a remote plant store by {@code POST /plants}. Safe for use by many threads.
 *
 * <pre>{@code
 * CreatePlant createPlant =
 *     PlantClient.builder(URI.create("https://plants.example"), () -> token).build();
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 *
 * <p>Creating is idempotent, so a call is retried until its deadline if the connection is refused
 * or closed, if there is no response within a third of the deadline, and for status 502, 503 and
 * 504. The back-off is random between 0 and a bound of 50 ms, which doubles with each attempt up to
 * 6.4 s; a {@code Retry-After} in seconds is added.
 *
 * <p>A call throws {@link org.plantstore.domain.PlantIdTakenException} for error 3001, {@link
 * org.plantstore.domain.InvalidPlantException} for errors 2xxx and 1005 and for status 413, {@link
 * PlantStoreUnavailableException} if the deadline passes, or would before the next attempt, if the
 * thread is interrupted, and for status 408 and 429, {@link UnexpectedResponseException} for any
 * other response, and the exception of a supplier as it is.
 */
public final class PlantClient implements CreatePlant {

  final URI plants;
  final long deadlineNanos;
  final HttpClient http;
  final Supplier<Map<String, String>> headers;
  private final Supplier<String> tokens;
  private CompletableFuture<String> token = CompletableFuture.completedFuture("");

  private PlantClient(Builder builder) {
    plants = builder.plants;
    tokens = builder.tokens;
    deadlineNanos = builder.deadline.toNanos();
    http = builder.http.get();
    headers = builder.headers;
  }

  /**
   * Returns a builder with the default settings.
   *
   * @param address the address of the service, {@code http} or {@code https}, with the path that a
   *     proxy has in front of {@code /plants}, if any
   * @param tokens supplies a bearer token, which is kept until it is refused with 401 or 403; then
   *     the supplier is called again, once in a call. It may block. It is called by one thread at a
   *     time, which is one of the client
   * @return a builder
   * @throws IllegalArgumentException if the address has another scheme, no host, or a user, query
   *     or fragment
   */
  public static Builder builder(URI address, Supplier<String> tokens) {
    return new Builder(address, tokens);
  }

  @Override
  public Plant create(NewPlant plant) {
    CompletableFuture<Plant> creation = createAsync(plant, Runnable::run).toCompletableFuture();
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
      throw e.getCause() instanceof RuntimeException unchecked
          ? unchecked
          : new CompletionException(e.getCause());
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>No thread waits for the service, so the executor is not used. Dependents run on the HTTP
   * client's only thread or on one of this client, so they must not block, nor close the HTTP
   * client. Cancelling the stage aborts the call.
   */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    requireNonNull(executor, "executor");
    return new Creation(this, requireNonNull(plant, "plant")).start();
  }

  /** Returns the token that is kept or being supplied; another one if it is refused. */
  synchronized CompletableFuture<String> token(String refused) {
    boolean isUseless =
        token
            .handle((supplied, failure) -> failure != null || supplied.equals(refused))
            .getNow(false);
    if (isUseless) {
      token = CompletableFuture.supplyAsync(this::supplyToken, Creation.THREADS);
    }
    return token;
  }

  private String supplyToken() {
    String supplied;
    try {
      supplied = tokens.get();
    } catch (CompletionException e) {
      throw new CompletionException(e); // as the future wraps any other
    }
    // RFC 6750, section 2.1. An exception of the HTTP client would contain the token.
    if (supplied == null || !supplied.matches("[A-Za-z0-9._~+/-]+=*")) {
      throw new IllegalArgumentException(
          "the supplied token must not be null, empty or have characters such as line breaks");
    }
    return supplied;
  }

  /** The settings of a client. Not safe for use by many threads. */
  public static final class Builder {

    private final URI plants;
    private final Supplier<String> tokens;
    private Duration deadline = Duration.ofSeconds(30);
    private Supplier<HttpClient> http = // in a pool, each step would wake a thread
        () -> HttpClient.newBuilder().executor(Runnable::run).build();
    private Supplier<Map<String, String>> headers = Map::of;

    private Builder(URI address, Supplier<String> tokens) {
      if (!address.toString().matches("(?i)https?://[^/?#@]+(/[^?#]*)?")
          || address.getHost() == null) {
        throw new IllegalArgumentException("address must be http[s]://host[:port][/path]");
      }
      plants = URI.create(address.toString().replaceFirst("/*$", "/plants"));
      this.tokens = requireNonNull(tokens, "tokens");
    }

    /**
     * Sets the deadline of a call, with all its attempts. The default is 30 s. A lookup of the
     * host's name, which Java keeps for 30 s, may exceed it.
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
     * Sets the HTTP client, which has the executor, TLS and the proxy.
     *
     * @param http the client; the default is like {@link HttpClient#newHttpClient()}, but runs its
     *     tasks inline, which makes twice as many creates
     * @return this builder
     * @throws IllegalArgumentException if it follows redirects, which would pass the token on, or
     *     has an authenticator, which would answer a refused token
     */
    public Builder httpClient(HttpClient http) {
      if (http.followRedirects() != HttpClient.Redirect.NEVER || http.authenticator().isPresent()) {
        throw new IllegalArgumentException(
            "the HTTP client must not follow redirects or have an authenticator");
      }
      this.http = () -> http;
      return this;
    }

    /**
     * Sets further headers, such as {@code traceparent}. An {@code X-Request-Id} replaces that of
     * the client, which then cannot detect a response that a proxy has sent twice.
     *
     * @param headers supplies the headers of a call, in the thread of the caller
     * @return this builder
     */
    public Builder headers(Supplier<Map<String, String>> headers) {
      this.headers = requireNonNull(headers, "headers");
      return this;
    }

    /** {@return a client with these settings, which later calls of this builder do not change} */
    public PlantClient build() {
      return new PlantClient(this);
    }
  }
}
