package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.text.ParseException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Fetches an identity provider's key set over HTTP. This client limits both the size of a response
 * and the total duration of a fetch. Nimbus's {@code DefaultResourceRetriever} is not used, because
 * it limits only the duration of each read. Immutable.
 */
final class KeySetClient {

  static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_BYTES = 256 * 1024;

  /** The value of the User-Agent header, including the version of the adapter's JAR file. */
  private static final String USER_AGENT =
      "plant-store/"
          + Objects.requireNonNullElse(
              KeySetClient.class.getPackage().getImplementationVersion(), "unpackaged");

  /**
   * This client does not offer an upgrade to HTTP/2, because some servers reject requests that
   * contain such an offer. This client does not follow redirects, because only the operator should
   * choose the address from which the keys are fetched. Anyone who controls the fetched keys can
   * issue valid tokens.
   */
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI address;
  private final Duration timeout;

  /** Descriptions of exceptions that have no message of their own. */
  private final Map<Class<?>, String> reasons;

  /** Creates a client with the given limit on the duration of a fetch. */
  KeySetClient(URI address, Duration timeout) {
    this.address = address;
    this.timeout = timeout;
    reasons =
        Map.of(
            ClosedChannelException.class, "the connection was refused",
            UnresolvedAddressException.class, "the host name does not resolve",
            TimeoutException.class, "the response took longer than " + timeout.toSeconds() + " s");
  }

  /** Fetches the key set; throws ConfigurationException with the reason if the fetch fails. */
  KeySet fetch() {
    try {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      HttpResponse<Void> response = send(body);
      if (response.statusCode() != 200) {
        String location = response.headers().firstValue("Location").orElse("");
        String safe = location.replaceAll("(?<=//)[^/]*@|[?#].*", ""); // removes secrets
        String fault =
            location.isEmpty()
                ? "has status %s; check JWT_JWKS_URL, and make sure that the provider is working"
                : "has status %s and the Location header \"%s\"; if you trust that address, set JWT_JWKS_URL to it";
        throw new ParseException(fault.formatted(response.statusCode(), safe), 0);
      }
      return KeySet.parse(body.toString(UTF_8));
    } catch (ParseException e) {
      String fault = KeySet.printable(String.valueOf(e.getMessage()));
      throw new ConfigurationException(
          "the response from \"%s\" %s".formatted(address.getAuthority(), fault), e);
    } catch (RuntimeException e) {
      throw new ConfigurationException(
          "no key set could be fetched from \"%s\" (%s); check JWT_JWKS_URL, the network, and the provider's certificate"
              .formatted(address.getAuthority(), reason(e)),
          e);
    }
  }

  private HttpResponse<Void> send(ByteArrayOutputStream body) {
    CompletableFuture<HttpResponse<Void>> response =
        client.sendAsync(
            HttpRequest.newBuilder(address)
                .header("Accept", "application/json")
                .header("Accept-Encoding", "identity")
                .header("User-Agent", USER_AGENT)
                .build(),
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(bytes, body))));
    try {
      return response.copy().orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS).join();
    } finally {
      response.cancel(true);
    }
  }

  private static void append(byte[] part, ByteArrayOutputStream body) {
    if (body.size() + part.length > MAX_BYTES) {
      throw new IllegalStateException("the response has more than " + MAX_BYTES + " bytes");
    }
    body.writeBytes(part);
  }

  /** Returns the first message in the chain of causes, because some exceptions have no message. */
  private String reason(Throwable failure) {
    Throwable reason = Objects.requireNonNullElse(failure.getCause(), failure);
    while (reason.getMessage() == null && reason.getCause() != null) {
      reason = reason.getCause();
    }
    return reason.getMessage() == null
        ? reasons.getOrDefault(reason.getClass(), reason.getClass().getSimpleName())
        : KeySet.printable(reason.getMessage());
  }
}
