package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.core.io.buffer.ByteBuffer;
import io.micronaut.core.io.buffer.ReferenceCounted;
import io.micronaut.core.type.Argument;
import io.micronaut.core.type.Headers;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.body.MessageBodyReader;
import io.micronaut.http.codec.CodecException;
import jakarta.inject.Singleton;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.Legible;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/**
 * Reads the body of a create, whatever its declared type, so that a wrong type gets an error of the
 * catalog. Serde would convert values, invent missing ones and ignore repeated members ({@code
 * NewPlantJsonTest}). Safe for use by multiple threads.
 */
@Singleton
@Consumes(MediaType.ALL)
final class NewPlantReader implements MessageBodyReader<NewPlant> {

  /** Finds a charset, but not within a quoted text. */
  private static final Pattern CHARSET =
      Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\\s\";,]+)|\"[^\"]*\"", Pattern.CASE_INSENSITIVE);

  /** The names of UTF-8, and of ASCII, which is a subset of it. */
  private static final Set<String> CHARSETS = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

  static {
    for (Charset charset : List.of(UTF_8, US_ASCII)) {
      CHARSETS.add(charset.name());
      CHARSETS.addAll(charset.aliases());
    }
  }

  /** Bodies up to this size are not counted, because all event loops together can parse them. */
  private static final int SMALL_BODY_BYTES = 16 * 1024;

  /** A body of many short members makes the parser allocate this multiple of its size. */
  private static final int PARSER_BYTES_PER_BYTE = 14;

  /** A quarter of the heap, in KiB. Without this limit, eight callers could exhaust 64 MB. */
  private static final int PARSER_KIB = (int) (Runtime.getRuntime().maxMemory() / 4 / 1024);

  private final Semaphore parserKib = new Semaphore(PARSER_KIB);

  @Override
  public NewPlant read(
      Argument<NewPlant> type, @Nullable MediaType contentType, Headers headers, ByteBuffer<?> body)
      throws CodecException {
    RefusedException refusal = refusalOf(headers);
    if (refusal != null) {
      throw refusal;
    }
    boolean isSmall = body.readableBytes() <= SMALL_BODY_BYTES;
    NewPlant plant = isSmall ? NewPlantJson.read(body.toByteArray()) : readLarge(body);
    if (body instanceof ReferenceCounted counted) {
      counted.release(); // after a refusal, the framework does this
    }
    return plant;
  }

  private NewPlant readLarge(ByteBuffer<?> body) {
    int kib = Math.min(body.readableBytes() / 1024 * PARSER_BYTES_PER_BYTE, PARSER_KIB);
    if (!parserKib.tryAcquire(kib)) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    try {
      return NewPlantJson.read(body.toByteArray());
    } finally {
      parserKib.release(kib);
    }
  }

  /** Required by the interface; the server calls the other method. */
  @Override
  public NewPlant read(
      Argument<NewPlant> type, @Nullable MediaType contentType, Headers headers, InputStream body) {
    throw new UnsupportedOperationException();
  }

  /** Returns why a body with these headers is refused, or null if it is read. */
  static @Nullable RefusedException refusalOf(Headers headers) {
    List<String> types = headers.getAll(HttpHeaders.CONTENT_TYPE);
    for (String type : types.isEmpty() ? List.of("") : types) {
      String fault = faultOf(type);
      if (fault != null) {
        return new RefusedException(ErrorNumber.CONTENT_TYPE, fault);
      }
    }
    List<String> encodings = headers.getAll(HttpHeaders.CONTENT_ENCODING);
    return encodings.stream().allMatch(it -> it.isEmpty() || it.equalsIgnoreCase("identity"))
        ? null
        : new RefusedException(ErrorNumber.CONTENT_ENCODING);
  }

  /** Checks the media type and the charset, because nothing reads other parameters. */
  private static @Nullable String faultOf(String contentType) {
    int end = contentType.indexOf(';');
    String type = end < 0 ? contentType : contentType.substring(0, end);
    if (!type.strip().equalsIgnoreCase(MediaType.APPLICATION_JSON)) {
      String found = contentType.isEmpty() ? "none" : Legible.of(contentType);
      return "The body must have the Content-Type application/json, but has " + found + ".";
    }
    Matcher charset = CHARSET.matcher(contentType);
    while (end >= 0 && charset.find()) {
      String name = charset.group(1);
      if (name != null && !CHARSETS.contains(name)) {
        return "The charset of the body must be UTF-8, but is " + Legible.of(name) + ".";
      }
    }
    return null;
  }
}
