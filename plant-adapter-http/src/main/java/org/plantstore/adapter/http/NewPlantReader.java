package org.plantstore.adapter.http;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.ServerHttpRequest;
import io.micronaut.http.body.AvailableByteBody;
import io.micronaut.http.exceptions.ContentLengthExceededException;
import io.micronaut.http.server.HttpServerConfiguration;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/**
 * Reads the body of a create. Headers are checked before the body is requested, so that a client
 * that waits for {@code 100 Continue} gets a refusal at once (RFC 9110, section 10.1.1). The
 * framework's binding would request the body first, and would coerce and default.
 */
@Singleton
final class NewPlantReader {

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";

  /** With well-formed parameters (RFC 9110, section 8.3.1), and no charset but UTF-8. */
  private static final Pattern JSON_TYPE =
      Pattern.compile(
          ("application/json(?:[ \\t]*;[ \\t]*(?:charset=(?:utf-8|\"utf-8\")|"
                  + "(?!charset=)TOKEN=(?:TOKEN|\"(?:[^\"\\\\]|\\\\.)*\"))?)*[ \\t]*")
              .replace("TOKEN", TOKEN),
          Pattern.CASE_INSENSITIVE);

  /** Finds another charset, to name it. */
  private static final Pattern OTHER_CHARSET =
      Pattern.compile(
          "application/json[ \\t]*;.*?charset=\"?(?!utf-8(?:[\"; \\t]|$))(" + TOKEN + ").*",
          Pattern.CASE_INSENSITIVE);

  /** The cost of the patterns may grow with the square of the length. */
  private static final int MAX_CONTENT_TYPE_CHARACTERS = 256;

  private static final int MAX_QUOTED_CHARACTERS = 64;

  /** Reading a body of this size takes about as long as the rest of a create. */
  static final int MAX_EVENT_LOOP_BYTES = 16 * 1024;

  private final long maxBodyBytes;

  /** One thread: parsing may allocate 14 times the body's bytes; others need the processors. */
  private final Executor largeBodies;

  NewPlantReader(HttpServerConfiguration server, @Named("large-bodies") Executor largeBodies) {
    this.maxBodyBytes = server.getMaxRequestSize();
    this.largeBodies = largeBodies;
  }

  /** Returns the plant when the body is complete; throws at once if the headers are refused. */
  CompletableFuture<NewPlant> read(ServerHttpRequest<?> request) {
    requireReadable(request.getHeaders());
    long declaredBytes = request.byteBody().expectedLength().orElse(0);
    if (declaredBytes > maxBodyBytes) {
      throw new ContentLengthExceededException(maxBodyBytes, declaredBytes);
    }
    return request.byteBody().buffer().handle(NewPlantReader::bytesOf).thenCompose(this::parse);
  }

  private static byte[] bytesOf(@Nullable AvailableByteBody body, @Nullable Throwable failure) {
    if (failure instanceof IOException) { // the client has disconnected
      throw new RefusedException(ErrorNumber.MALFORMED_REQUEST);
    }
    if (body == null) {
      throw new CompletionException(failure);
    }
    return body.toByteArray();
  }

  /** Reads the JSON of a body, on the event loop unless the body is large. */
  CompletableFuture<NewPlant> parse(byte[] body) {
    return body.length > MAX_EVENT_LOOP_BYTES
        ? CompletableFuture.supplyAsync(() -> NewPlantJson.read(body), largeBodies)
        : CompletableFuture.completedFuture(NewPlantJson.read(body));
  }

  static void requireReadable(HttpHeaders headers) {
    List<String> contentTypes = headers.getAll(HttpHeaders.CONTENT_TYPE);
    String contentType = contentTypes.size() == 1 ? contentTypes.get(0) : "";
    if (contentType.length() > MAX_CONTENT_TYPE_CHARACTERS
        || !JSON_TYPE.matcher(contentType).matches()) {
      throw new RefusedException(ErrorNumber.CONTENT_TYPE, fault(contentTypes));
    }
    List<String> encodings = headers.getAll(HttpHeaders.CONTENT_ENCODING);
    if (!encodings.stream().allMatch("identity"::equalsIgnoreCase)) {
      throw new RefusedException(ErrorNumber.CONTENT_ENCODING);
    }
  }

  private static String fault(List<String> contentTypes) {
    String demand = "The body must have the Content-Type application/json, but has ";
    if (contentTypes.size() != 1) {
      return demand + (contentTypes.isEmpty() ? "none." : "several.");
    }
    String contentType = contentTypes.get(0);
    Matcher charset = OTHER_CHARSET.matcher(contentType);
    if (contentType.length() <= MAX_CONTENT_TYPE_CHARACTERS && charset.matches()) {
      return "The charset of the body must be UTF-8, but is " + legible(charset.group(1)) + ".";
    }
    return demand + (contentType.isEmpty() ? "an empty one." : legible(contentType) + ".");
  }

  private static String legible(String value) {
    String printable = value.replaceAll("[^ -~]", "?");
    return printable.length() > MAX_QUOTED_CHARACTERS
        ? printable.substring(0, MAX_QUOTED_CHARACTERS) + "..."
        : printable;
  }
}
