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
 * multiple threads. This class is not final, so that containers can create proxies for it.
 *
 * <pre>{@code
 * CreatePlant createPlant =
 *     PlantClient.builder(URI.create("https://plants.example"), () -> token).build();
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 *
 * <p>If the service or the network fails, a call retries until its deadline. If the deadline passes
 * or the thread is interrupted, the call throws {@link
 * org.plantstore.domain.PlantStoreUnavailableException}. If a configuration error would make every
 * retry fail, the call throws {@link UnexpectedResponseException}. If a supplier throws an
 * exception, the call fails with that exception.
 */
public class PlantClient implements CreatePlant {

  final URI plants;
  private final Supplier<String> tokens;
  final Duration deadline;
  final HttpClient http;
  final Supplier<Map<String, String>> headers;
  final Semaphore permits;

  PlantClient(Builder builder) { // not private, so that proxies can call it
    plants = builder.plants;
    tokens = builder.tokens;
    deadline = builder.deadline;
    http = builder.http.get();
    headers = builder.headers;
    permits = new Semaphore(builder.requests, true); // fair: first come, first served
  }

  /**
   * {@return a new builder with the default settings}
   *
   * @param address the {@code http} or {@code https} address of the service. If a proxy expects a
   *     path before {@code /plants}, the address must include that path.
   * @param tokens supplies the bearer token. Each call invokes the supplier once on the calling
   *     thread, and once more if the service rejects the token with a 401 response.
   * @throws IllegalArgumentException if the scheme is neither {@code http} nor {@code https}, if
   *     the host is missing or contains an underscore, if the port is not in the range 1 to 65535,
   *     or if the address contains a user name, a query, or a fragment
   */
  public static Builder builder(URI address, Supplier<String> tokens) {
    return new Builder(address, tokens);
  }

  @Override
  public Plant create(NewPlant plant) {
    return new Creation(this).create(plant);
  }

  /** {@inheritDoc} Until the call ends, it occupies one of the executor's threads. */
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

  /** Returns a token from the supplier after checking the token's syntax. */
  String token() {
    String token = tokens.get();
    // A token must have the syntax that RFC 6750 defines in section 2.1. If the token contained a
    // line break, for example, HttpClient would throw an exception that quotes the token.
    if (token == null || !token.matches("[A-Za-z0-9._~+/-]+=*")) {
      throw new IllegalArgumentException(
          token == null || token.isEmpty()
              ? "the token supplier must return a token, but returned none"
              : "the token supplier must return a token of letters, digits, and -._~+/=, without"
                  + " \"Bearer \", spaces, or line breaks");
    }
    return token;
  }

  /** Collects the settings of a client. Builders are not safe for use by multiple threads. */
  public static final class Builder {

    private final URI plants;
    private final Supplier<String> tokens;
    private Duration deadline = Duration.ofSeconds(30);
    private Supplier<HttpClient> http = // a thread pool would wake a thread for each step of a call
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
                + " without an underscore, and no user, query, or fragment, but is \""
                + shown
                + '"');
      }
      plants = URI.create(address.toString().replaceFirst("/*$", "/plants"));
      this.tokens = requireNonNull(tokens, "tokens");
    }

    /**
     * Sets the deadline for each call. The deadline covers all attempts that the call makes. The
     * default is 30 seconds.
     *
     * @param deadline the deadline, from 1 ms to 1 day. A call exceeds its deadline only if looking
     *     up the host name, calling a supplier, or waiting for a thread takes too long.
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
     * Sets the HTTP client, which determines the executor, the TLS settings, and the proxy. The
     * default HTTP client does not use a thread pool, because the throughput is twice as high
     * without one.
     *
     * @param http the HTTP client
     * @return this builder
     * @throws IllegalArgumentException if the HTTP client follows redirects or has an
     *     authenticator. A redirect could send the token to another server, and an authenticator
     *     would handle 401 responses before this class does.
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
     * {@code X-Request-Id}, the client cannot detect duplicate responses from a proxy.
     *
     * @param headers supplies the headers. Each call invokes the supplier once on the calling
     *     thread.
     * @return this builder
     */
    public Builder headers(Supplier<Map<String, String>> headers) {
      this.headers = requireNonNull(headers, "headers");
      return this;
    }

    /**
     * Limits the number of requests in flight, because each request needs a socket. The default is
     * 256. If the limit is reached, an additional call waits until a request ends or the call's
     * deadline passes.
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
