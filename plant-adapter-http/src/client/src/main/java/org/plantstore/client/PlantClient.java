package org.plantstore.client;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;

/**
 * Creates plants in a remote plant store by {@code POST /plants}. Safe for use by many threads, and
 * not final, so that containers can proxy it.
 *
 * <pre>{@code
 * CreatePlant createPlant =
 *     PlantClient.builder(URI.create("https://plants.example"), () -> token).build();
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 *
 * <p>A call is repeated until its deadline while the service or the network fails; then, or if its
 * thread is interrupted, it throws {@link org.plantstore.domain.PlantStoreUnavailableException}. It
 * throws {@link UnexpectedResponseException} if repeating it cannot help, and the exception of a
 * supplier as it is.
 */
public class PlantClient implements CreatePlant {

  final URI plants;
  private final Supplier<String> tokens;
  final Duration deadline;
  final HttpClient http;
  final Supplier<Map<String, String>> headers;
  final Semaphore permits;

  PlantClient(Builder builder) { // not private, because a proxy calls it
    plants = builder.plants;
    tokens = builder.tokens;
    deadline = builder.deadline;
    http = builder.http.get();
    headers = builder.headers;
    permits = new Semaphore(builder.requests, true); // in the order of the calls
  }

  /**
   * {@return a builder with the default settings}
   *
   * @param address the address of the service, {@code http} or {@code https}, with the path that a
   *     proxy has in front of {@code /plants}, if any
   * @param tokens supplies a bearer token; asked once in each call, on the thread of the caller,
   *     and once more if the token is refused with 401
   * @throws IllegalArgumentException if the address is another, or its host has an underscore
   */
  public static Builder builder(URI address, Supplier<String> tokens) {
    return new Builder(address, tokens);
  }

  @Override
  public Plant create(NewPlant plant) {
    return new Creation(this).create(plant);
  }

  /** {@inheritDoc} The call holds a thread of the executor until it ends. */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    requireNonNull(executor, "executor");
    try {
      return new Creation(this).createAsync(plant, executor); // asks the suppliers on this thread
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns a token of the supplier. */
  String token() {
    String token = tokens.get();
    // RFC 6750, section 2.1. An exception of the HTTP client would contain the token.
    if (token == null || !token.matches("[A-Za-z0-9._~+/-]+=*")) {
      String fault = token == null || token.isEmpty() ? "missing" : "not like [A-Za-z0-9._~+/-]+=*";
      throw new IllegalArgumentException(
          "the supplied token is "
              + fault
              + "; supply it without \"Bearer \", spaces and line breaks");
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
    private int requests = 256;

    private Builder(URI address, Supplier<String> tokens) {
      if (address.getHost() == null
          || address.getPort() == 0
          || address.getPort() > 65535
          || !address.toString().matches("(?i)https?://[^/?#@]+(/[^?#]*)?")) {
        String shown =
            address.toString().replaceFirst("//.*@", "//...@").replaceFirst("[?#].*", "?...");
        throw new IllegalArgumentException(
            "address must be http[s]://host[:port][/path], with a port from 1 to 65535, a host without"
                + " an underscore, and no user, query or fragment, but is "
                + shown);
      }
      plants = URI.create(address.toString().replaceFirst("/*$", "/plants"));
      this.tokens = requireNonNull(tokens, "tokens");
    }

    /**
     * {@return this builder, with a deadline for a call and all its attempts}
     *
     * @param deadline 1 ms to 1 day, by default 30 s; a lookup of the host's name may exceed it
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
     * {@return this builder, with an HTTP client, which has the executor, TLS and the proxy}
     *
     * @param http the client; the default runs its tasks inline, which makes twice as many creates
     * @throws IllegalArgumentException if it follows redirects, which would pass the token on, or
     *     has an authenticator, which would answer a refused token
     */
    public Builder httpClient(HttpClient http) {
      if (http.followRedirects() != HttpClient.Redirect.NEVER || http.authenticator().isPresent()) {
        throw new IllegalArgumentException("http must not follow redirects or authenticate");
      }
      this.http = () -> http;
      return this;
    }

    /**
     * {@return this builder, with further headers of each call, such as {@code traceparent}}
     *
     * @param headers supplies the headers of a call, on the thread of the caller; an {@code
     *     X-Request-Id} replaces that of the client, by which it detects duplicated responses
     */
    public Builder headers(Supplier<Map<String, String>> headers) {
      this.headers = requireNonNull(headers, "headers");
      return this;
    }

    /**
     * {@return this builder, with a limit for the requests in flight, each of which needs a socket}
     *
     * @param requests 1 or more, by default 256; further calls wait until their deadline
     * @throws IllegalArgumentException if the limit is less than 1
     */
    public Builder maxRequestsInFlight(int requests) {
      if (requests < 1) {
        throw new IllegalArgumentException("requests must be at least 1 but is " + requests);
      }
      this.requests = requests;
      return this;
    }

    /** {@return a client with these settings} */
    public PlantClient build() {
      return new PlantClient(this);
    }
  }
}
