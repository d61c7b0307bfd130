package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.MediaType;
import io.micronaut.http.ServerHttpRequest;
import io.micronaut.http.body.AvailableByteBody;
import io.micronaut.http.exceptions.ContentLengthExceededException;
import io.micronaut.http.server.HttpServerConfiguration;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.Legible;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/**
 * Reads the body of a create. Headers are checked before the body is requested, so that a client
 * that waits for {@code 100 Continue} gets a refusal at once (RFC 9110, section 10.1.1). The
 * framework's binding would request the body first, and would coerce and default.
 */
@Singleton
final class NewPlantReader {

  /** Finds a charset, but not within a quoted text. */
  private static final Pattern CHARSET =
      Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\\s\";,]+)|\"[^\"]*\"", Pattern.CASE_INSENSITIVE);

  /** The names of UTF-8, and of ASCII, which is a part of it. */
  private static final Set<String> CHARSETS = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

  static {
    for (Charset charset : List.of(UTF_8, US_ASCII)) {
      CHARSETS.add(charset.name());
      CHARSETS.addAll(charset.aliases());
    }
  }

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
    if (failure instanceof IOException) { // the client has left, and gets no answer
      throw new RefusedException(ErrorNumber.MALFORMED_JSON);
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
    List<String> types = headers.getAll(HttpHeaders.CONTENT_TYPE);
    (types.isEmpty() ? List.of("") : types).forEach(NewPlantReader::requireJson);
    List<String> encodings = headers.getAll(HttpHeaders.CONTENT_ENCODING);
    if (!encodings.stream().allMatch(it -> it.isEmpty() || it.equalsIgnoreCase("identity"))) {
      throw new RefusedException(ErrorNumber.CONTENT_ENCODING);
    }
  }

  /** Requires the media type and, if it is there, the charset; nothing reads other parameters. */
  private static void requireJson(String contentType) {
    int end = contentType.indexOf(';');
    String type = end < 0 ? contentType : contentType.substring(0, end);
    if (!type.strip().equalsIgnoreCase(MediaType.APPLICATION_JSON)) {
      throw new RefusedException(
          ErrorNumber.CONTENT_TYPE,
          "The body must have the Content-Type application/json, but has "
              + (contentType.isEmpty() ? "none" : Legible.of(contentType))
              + (contentType.matches("[\"'].*") ? "; remove the quotation marks." : "."));
    }
    Matcher charset = CHARSET.matcher(contentType);
    while (end >= 0 && charset.find()) {
      String name = charset.group(1);
      if (name != null && !CHARSETS.contains(name)) {
        throw new RefusedException(
            ErrorNumber.CONTENT_TYPE,
            "The charset of the body must be UTF-8, but is "
                + Legible.of(name)
                + (name.startsWith("'") ? "; remove the quotation marks." : "."));
      }
    }
  }
}
