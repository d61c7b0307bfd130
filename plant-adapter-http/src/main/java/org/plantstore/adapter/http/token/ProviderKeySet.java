package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.text.ParseException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLException;

/**
 * Fetches the key set of an identity provider. Bounds the time and the size of a whole fetch; the
 * library's own client bounds only the time of each read. Immutable.
 */
final class ProviderKeySet {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_BYTES = 256 * 1024;

  /** HTTP/2 would be offered as an upgrade, which some servers refuse. Follows no redirects. */
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI address;

  ProviderKeySet(URI address) {
    this.address = address;
  }

  /** Fetches the key set; throws IOException with the place and the remedy if no key is usable. */
  PublishedKeys fetch() throws IOException {
    try {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      HttpResponse<Void> answer = send(body);
      if (answer.statusCode() / 100 == 3) {
        answer.headers().firstValue("Location").ifPresent(ProviderKeySet::refuseRedirect);
      }
      if (answer.statusCode() != 200) {
        throw new ParseException("the status is \"" + answer.statusCode() + "\"", 0);
      }
      return PublishedKeys.parse(text(body.toByteArray()));
    } catch (IOException | ParseException | RuntimeException | StackOverflowError e) {
      int port = address.getPort() < 0 ? address.toURL().getDefaultPort() : address.getPort();
      String place = quoted(address.getHost() + ":" + port);
      throw new IOException(place + " " + reason(Objects.requireNonNullElse(e.getCause(), e)), e);
    }
  }

  private HttpResponse<Void> send(ByteArrayOutputStream body) {
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(
            HttpRequest.newBuilder(address).header("Accept-Encoding", "identity").build(),
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(bytes, body))));
    try {
      return answer.copy().orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
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

  /** Whoever publishes the keys can issue tokens, so only the operator may choose who does. */
  private static void refuseRedirect(String location) {
    String shown = quoted(location.replaceAll("(?<=//)[^/]*@|[?#].*", ""));
    throw new IllegalStateException(
        "it redirects to " + shown + "; if that is right, set JWT_JWKS_URL to it");
  }

  /** Some providers compress a key set although they were asked not to. */
  private static String text(byte[] body) throws IOException {
    boolean isGzip = body.length > 1 && body[0] == 0x1F && body[1] == (byte) 0x8B;
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    append(
        isGzip
            ? new GZIPInputStream(new ByteArrayInputStream(body)).readNBytes(MAX_BYTES + 1)
            : body,
        text);
    return text.toString(UTF_8);
  }

  /** Returns what failed and what to check; the client's own exceptions may have no message. */
  private static String reason(Throwable failure) {
    if (failure instanceof TimeoutException) {
      String limit = TIMEOUT.toSeconds() + " s";
      return "sends no whole answer within " + limit + "; check firewalls and the provider";
    }
    if (failure instanceof ConnectException) {
      return failure.getCause() instanceof UnresolvedAddressException
          ? "is an unknown host; check the name and the DNS"
          : "refuses the connection; check the port and the provider";
    }
    String advice =
        failure instanceof SSLException
            ? "fails in TLS; check the certificate and the trusted authorities: "
            : "sends no usable key set; check the address and the provider: ";
    return advice
        + printable(Objects.requireNonNullElse(failure.getMessage(), "it ends early"), 1_000);
  }

  private static String quoted(String text) {
    return '"' + printable(text, 200).replace('"', '?') + '"';
  }

  /** Returns the beginning of a foreign text, made fit for one line of a message. */
  static String printable(String text, int maxCharacters) {
    String line = text.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), maxCharacters));
  }
}
