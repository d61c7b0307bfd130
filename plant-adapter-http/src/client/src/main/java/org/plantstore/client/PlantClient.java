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
 * Creates plants in a remote plant store with {@code POST /plants}. Clients are safe for use by
 * multiple threads. The class is not final, so that containers can create proxies for it.
 *
 * <pre>{@code
 * CreatePlant createPlant =
 *     PlantClient.builder(URI.create("https://plants.example"), () -> token).build();
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 *
 * <p>If the service or the network fails, a call repeats its request until the deadline. If the
 * deadline passes or the thread is interrupted, the call throws {@link
 * org.plantstore.domain.PlantStoreUnavailableException}. If a retry cannot help, the call throws
 * {@link UnexpectedResponseException}. Exceptions from the suppliers are passed on.
 */
public class PlantClient implements CreatePlant {

  final URI plants;
  private final Supplier<String> tokens;
  final Duration deadline;
  final HttpClient http;
  final Supplier<Map<String, String>> headers;
  final Semaphore permits;

  PlantClient(Builder builder) { // not private, because proxies call it
    plants = builder.plants;
    tokens = builder.tokens;
    deadline = builder.deadline;
    http = builder.http.get();
    headers = builder.headers;
    permits = new Semaphore(builder.requests, true); // fair: serves calls in their order
  }

  /**
   * {@return a new builder with the default settings}
   *
   * @param address the {@code http} or {@code https} address of the service, including the path, if
   *     any, that a proxy expects before {@code /plants}
   * @param tokens supplies the bearer token; invoked once for each call, on the caller's thread,
   *     and once more if the service refuses the token with 401
   * @throws IllegalArgumentException if the scheme is neither {@code http} nor {@code https}, if
   *     the host is missing or contains an underscore, if the port is not from 1 to 65535, or if
   *     the address contains a user, a query, or a fragment
   */
  public static Builder builder(URI address, Supplier<String> tokens) {
    return new Builder(address, tokens);
  }

  @Override
  public Plant create(NewPlant plant) {
    return new Creation(this).create(plant);
  }

  /** {@inheritDoc} The call occupies a thread of the executor until it ends. */
  @Override
  public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    requireNonNull(executor, "executor");
    try {
      return new Creation(this).createAsync(plant, executor); // calls the suppliers on this thread
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns a token from the supplier, after checking that it is well-formed. */
  String token() {
    String token = tokens.get();
    // Checks the syntax in RFC 6750, section 2.1. Otherwise, HttpClient would throw an exception
    // that contains the token.
    if (token == null || !token.matches("[A-Za-z0-9._~+/-]+=*")) {
      boolean isMissing = token == null || token.isEmpty();
      throw new IllegalArgumentException(
          ("the supplied token " + (isMissing ? "is missing" : "must match [A-Za-z0-9._~+/-]+=*"))
              + "; supply it without \"Bearer \", spaces, or line breaks");
    }
    return token;
  }

  /** Collects the settings of a client. Builders are not safe for use by multiple threads. */
  public static final class Builder {

    private final URI plants;
    private final Supplier<String> tokens;
    private Duration deadline = Duration.ofSeconds(30);
    private Supplier<HttpClient> http = // with a thread pool, each step would wake a thread
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
            "address must be http[s]://host[:port][/path], with a port from 1 to 65535, a host"
                + " without an underscore, and no user, query, or fragment, but is "
                + shown);
      }
      plants = URI.create(address.toString().replaceFirst("/*$", "/plants"));
      this.tokens = requireNonNull(tokens, "tokens");
    }

    /**
     * Sets the deadline of each call, including all its attempts. The default is 30 s.
     *
     * @param deadline the deadline, from 1 ms to 1 day; a call may exceed it only while it looks up
     *     the host name
     * @return this builder
     * @throws IllegalArgumentException if the deadline is less than 1 ms or more than 1 day
     */
    public Builder deadline(Duration deadline) {
      if (deadline.compareTo(Duration.ofMillis(1)) < 0
          || deadline.compareTo(Duration.ofDays(1)) > 0) {
        throw new IllegalArgumentException(
            "deadline must be from 1 ms to 1 day, but is " + deadline);
      }
      this.deadline = deadline;
      return this;
    }

    /**
     * Sets the HTTP client, which determines the executor, TLS, and the proxy. The default HTTP
     * client runs its tasks inline, because this doubles the number of creates per second.
     *
     * @param http the HTTP client
     * @return this builder
     * @throws IllegalArgumentException if the HTTP client follows redirects, because a redirect
     *     would pass on the token, or if it has an authenticator, because the authenticator would
     *     respond to a refused token
     */
    public Builder httpClient(HttpClient http) {
      if (http.followRedirects() != HttpClient.Redirect.NEVER || http.authenticator().isPresent()) {
        throw new IllegalArgumentException(
            "http must not follow redirects or have an authenticator");
      }
      this.http = () -> http;
      return this;
    }

    /**
     * Sets a supplier of additional headers, such as {@code traceparent}. If the headers contain
     * {@code X-Request-Id}, the client cannot detect a response that a proxy has sent twice.
     *
     * @param headers supplies the headers of each call, on the caller's thread
     * @return this builder
     */
    public Builder headers(Supplier<Map<String, String>> headers) {
      this.headers = requireNonNull(headers, "headers");
      return this;
    }

    /**
     * Limits the number of requests in flight, because each of them needs a socket. The default is
     * 256. If the limit is reached, further calls wait, at most until their deadline.
     *
     * @param requests the maximum number of requests, at least 1
     * @return this builder
     * @throws IllegalArgumentException if {@code requests} is less than 1
     */
    public Builder maxRequestsInFlight(int requests) {
      if (requests < 1) {
        throw new IllegalArgumentException("requests must be at least 1, but is " + requests);
      }
      this.requests = requests;
      return this;
    }

    /** {@return a new client with these settings} */
    public PlantClient build() {
      return new PlantClient(this);
    }
  }
}
