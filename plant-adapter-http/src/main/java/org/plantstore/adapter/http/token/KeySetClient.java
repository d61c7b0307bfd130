package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.text.ParseException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;

/**
 * Fetches the key set of an identity provider. Bounds the time and the size of a whole fetch; the
 * library's own client bounds only the time of each read. Immutable.
 */
final class KeySetClient {

  private static final int TIMEOUT_SECONDS = 5;
  private static final int MAX_BYTES = 256 * 1024;
  private static final int MAX_FOREIGN_CHARACTERS = 1_000;

  /** Has the version of the jar that contains this class. */
  private static final String USER_AGENT =
      "plant-store/"
          + Objects.requireNonNullElse(
              KeySetClient.class.getPackage().getImplementationVersion(), "unpackaged");

  /**
   * HTTP/2 would be offered as an upgrade, which some servers refuse. Follows no redirects, because
   * whoever publishes the keys can issue tokens: only the operator may choose who does.
   */
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI address;

  KeySetClient(URI address) {
    this.address = address;
  }

  /** Fetches the key set; throws IOException with the place and the reason if no key is usable. */
  KeySet fetch() throws IOException {
    try {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      HttpResponse<Void> answer = send(body);
      if (answer.statusCode() != 200) {
        // Without a password or a query, which may be secret.
        String location =
            answer
                .headers()
                .firstValue("Location")
                .orElse("")
                .replaceAll("(?<=//)[^/]*@|[?#].*", "");
        throw new ParseException(
            "the status is " + answer.statusCode() + ", the Location \"" + location + '"', 0);
      }
      return KeySet.parse(text(body.toByteArray()));
    } catch (IOException | ParseException | RuntimeException e) {
      int port = address.getPort() < 0 ? address.toURL().getDefaultPort() : address.getPort();
      throw new IOException(
          "\"%s:%s\" sends no usable key set within %s s; check the address, the network, the certificate and the provider: %s"
              .formatted(address.getHost(), port, TIMEOUT_SECONDS, reason(e)),
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

  /** Some providers compress a key set although they were asked not to. */
  private static String text(byte[] body) throws IOException {
    if (body.length < 2 || body[0] != 0x1F || body[1] != (byte) 0x8B) {
      return new String(body, UTF_8);
    }
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    append(new GZIPInputStream(new ByteArrayInputStream(body)).readNBytes(MAX_BYTES + 1), text);
    return text.toString(UTF_8);
  }

  /** Returns the message of a failure; those of the client may be in its cause, or have none. */
  private static String reason(Throwable failure) {
    Throwable reason = Objects.requireNonNullElse(failure.getCause(), failure);
    while (reason.getMessage() == null && reason.getCause() != null) {
      reason = reason.getCause();
    }
    return printable(
        Objects.requireNonNullElse(reason.getMessage(), reason.getClass().getSimpleName()));
  }

  /** Returns the beginning of a foreign text, made fit for one line of a message. */
  static String printable(String text) {
    String line = text.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), MAX_FOREIGN_CHARACTERS));
  }
}
