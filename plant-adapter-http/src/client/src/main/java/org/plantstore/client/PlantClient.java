package org.plantstore.client;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;

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
 * or closed, if there is no response within a third of the deadline, and for status 408, 425, 429
 * and 5xx. The back-off is random between 0 and a bound of 50 ms, which doubles with each attempt
 * up to 6.4 s; a {@code Retry-After} in seconds is added.
 *
 * <p>A call throws {@link org.plantstore.domain.PlantIdTakenException} for error 3001, {@link
 * org.plantstore.domain.InvalidPlantException} for errors 2xxx and 1005, {@link
 * org.plantstore.domain.PlantStoreUnavailableException} if the deadline passes, or would before the
 * next attempt, and if the thread is interrupted, {@link UnexpectedResponseException} for any other
 * response, and the exception of a supplier as it is.
 *
 * <p>Not final, so that containers can proxy it.
 */
public class PlantClient implements CreatePlant {

  final URI plants;
  final long deadlineNanos;
  final HttpClient http;
  final Supplier<Map<String, String>> headers;
  private final Supplier<String> tokens;

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
   * @param tokens supplies a bearer token; called once in each call, on the thread of the caller,
   *     and once more if the token is refused with 401
   * @return a builder
   * @throws IllegalArgumentException if the address has another scheme, no host, one with an
   *     underscore, or a user, query or fragment
   */
  public static Builder builder(URI address, Supplier<String> tokens) {
    return new Builder(address, tokens);
  }

  @Override
  public Plant create(NewPlant plant) {
    return new Creation(this, requireNonNull(plant, "plant")).run();
  }

  /**
   * {@inheritDoc}
   *
   * <p>The call holds a thread of the executor while it waits for the service. The suppliers are
   * asked in the thread of the caller; only another token after a 401 is not.
   */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    requireNonNull(executor, "executor");
    try {
      Creation creation = new Creation(this, plant);
      CreatePlant begun = same -> creation.run();
      return begun.createAsync(plant, executor);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns a token of the supplier. */
  String token() {
    String token = tokens.get();
    // RFC 6750, section 2.1. An exception of the HTTP client would contain the token.
    if (token == null || !token.matches("[A-Za-z0-9._~+/-]+=*")) {
      throw new IllegalArgumentException(
          "the supplied token must not be null, empty or have characters such as line breaks");
    }
    return token;
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
        throw new IllegalArgumentException(
            "address must be http[s]://host[:port][/path], with a host without an underscore");
      }
      plants = URI.create(address.toString().replaceFirst("/*$", "/plants"));
      this.tokens = requireNonNull(tokens, "tokens");
    }

    /**
     * Sets the deadline of a call, with all its attempts. The default is 30 s. A lookup of the
     * host's name, which Java keeps for 30 s, and a supplier may exceed it.
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
