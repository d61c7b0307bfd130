package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.text.ParseException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * An HTTP client that fetches the key set of an identity provider. Limits the time and the size of
 * a whole fetch, whereas the client of Nimbus limits only the time of each read. Immutable.
 */
final class KeySetClient {

  private static final int TIMEOUT_SECONDS = 5;
  private static final int MAX_BYTES = 256 * 1024;

  /** Contains the version of this adapter's jar. */
  private static final String USER_AGENT =
      "plant-store/"
          + Objects.requireNonNullElse(
              KeySetClient.class.getPackage().getImplementationVersion(), "unpackaged");

  /**
   * Does not offer an upgrade to HTTP/2, because some servers refuse such requests. Does not follow
   * redirects, because the publisher of the keys can issue tokens and only the operator may choose
   * it.
   */
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI address;

  KeySetClient(URI address) {
    this.address = address;
  }

  /** Fetches the key set; throws ConfigurationException with the reason if that fails. */
  KeySet fetch() {
    try {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      HttpResponse<Void> answer = send(body);
      if (answer.statusCode() != 200) {
        String location = answer.headers().firstValue("Location").orElse("");
        String legible = location.replaceAll("(?<=//)[^/]*@|[?#].*", ""); // these may be secret
        throw new ParseException(
            "the status is " + answer.statusCode() + ", the Location \"" + legible + '"', 0);
      }
      return KeySet.parse(body.toString(UTF_8));
    } catch (ParseException | RuntimeException e) {
      throw new ConfigurationException(
          "\"%s\" sends no usable key set within %s s; check JWT_JWKS_URL, the network, the certificate and the provider: %s"
              .formatted(address.getAuthority(), TIMEOUT_SECONDS, reason(e)),
          e);
    }
  }

  private HttpResponse<Void> send(ByteArrayOutputStream body) {
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(
            HttpRequest.newBuilder(address)
                .header("Accept", "application/json")
                .header("Accept-Encoding", "identity")
                .header("User-Agent", USER_AGENT)
                .build(),
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(bytes, body))));
    try {
      return answer.copy().orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    } finally {
      answer.cancel(true);
    }
  }

  private static void append(byte[] part, ByteArrayOutputStream body) {
    if (body.size() + part.length > MAX_BYTES) {
      throw new IllegalStateException("it has more than " + MAX_BYTES + " bytes");
    }
    body.writeBytes(part);
  }

  /** Returns the reason of a failure. The client wraps its exceptions, some without a message. */
  private static String reason(Throwable failure) {
    Throwable reason = Objects.requireNonNullElse(failure.getCause(), failure);
    while (reason.getMessage() == null && reason.getCause() != null) {
      reason = reason.getCause();
    }
    return KeySet.printable(
        Objects.requireNonNullElse(reason.getMessage(), reason.getClass().getSimpleName()));
  }
}
