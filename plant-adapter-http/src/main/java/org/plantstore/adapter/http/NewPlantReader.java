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
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.Legible;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/**
 * Reads the body of a create request. This reader accepts every media type, so that a request with
 * a media type other than JSON receives an error from the catalog. Micronaut Serialization (Serde)
 * is not used, because it would convert values of the wrong type, supply defaults for missing
 * values, and accept duplicate members. Safe for use by multiple threads.
 */
@Singleton
@Consumes(MediaType.ALL)
final class NewPlantReader implements MessageBodyReader<NewPlant> {

  /**
   * Matches a charset parameter. Also matches a quoted string, so that text inside the string is
   * not mistaken for a charset parameter.
   */
  private static final Pattern CHARSET =
      Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\\s\";,]+)|\"[^\"]*\"", Pattern.CASE_INSENSITIVE);

  /**
   * The maximum size, in bytes, of a body that is parsed without acquiring permits. Each thread
   * parses only one body at a time, and the heap has enough room for one small body per thread.
   */
  private static final int SMALL_BODY_BYTES = 16 * 1024;

  /**
   * The maximum total size, in bytes, of all bodies larger than {@link #SMALL_BODY_BYTES} that are
   * being parsed. Parsing a body can allocate up to 14 times the body's size, so this limit
   * restricts the parsers of large bodies to a quarter of the heap in total. A body that exceeds
   * the limit is parsed only while no other large body is being parsed. Without this limit, eight
   * callers could exhaust a 64 MB heap.
   */
  private static final int MAX_PARSED_BYTES =
      (int) Math.min(Runtime.getRuntime().maxMemory() / 4 / 14, Integer.MAX_VALUE);

  private final Semaphore parsedBytes = new Semaphore(MAX_PARSED_BYTES);

  @Override
  public NewPlant read(
      Argument<NewPlant> type, @Nullable MediaType contentType, Headers headers, ByteBuffer<?> body)
      throws CodecException {
    RefusedException refusal = refusalOf(headers);
    if (refusal != null) {
      throw refusal;
    }
    boolean isSmall = body.readableBytes() <= SMALL_BODY_BYTES;
    NewPlant plant = isSmall ? parse(body.toByteArray()) : readLarge(body);
    if (body instanceof ReferenceCounted counted) {
      counted.release(); // the framework releases the body if this method throws an exception
    }
    return plant;
  }

  private NewPlant readLarge(ByteBuffer<?> body) {
    int bytes = Math.min(body.readableBytes(), MAX_PARSED_BYTES);
    if (!parsedBytes.tryAcquire(bytes)) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    try {
      return parse(body.toByteArray());
    } finally {
      parsedBytes.release(bytes);
    }
  }

  /** Decodes a body strictly, because Jackson would accept byte sequences that RFC 3629 forbids. */
  static NewPlant parse(byte[] body) {
    var bytes = java.nio.ByteBuffer.wrap(body);
    try {
      return NewPlantJson.read(UTF_8.newDecoder().decode(bytes));
    } catch (CharacterCodingException e) {
      String value = HexFormat.of().withUpperCase().toHexDigits(bytes.get());
      String place = bytes.position() + " (0x" + value + ")";
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body is not valid UTF-8 at byte " + place + "; encode the entire body in UTF-8.");
    }
  }

  /** This method is not supported, because the server calls only the other {@code read} method. */
  @Override
  public NewPlant read(
      Argument<NewPlant> type, @Nullable MediaType contentType, Headers headers, InputStream body) {
    throw new UnsupportedOperationException();
  }

  /** Returns the exception that rejects these headers, or null if the headers are valid. */
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

  /** Returns the error message for an invalid media type or charset, or null if both are valid. */
  private static @Nullable String faultOf(String contentType) {
    int end = contentType.indexOf(';');
    String type = end < 0 ? contentType : contentType.substring(0, end);
    if (!type.strip().equalsIgnoreCase(MediaType.APPLICATION_JSON)) {
      return "The Content-Type must be application/json, but is "
          + (contentType.isEmpty() ? "missing" : Legible.quoted(contentType))
          + "; send the header \"Content-Type: application/json\".";
    }
    Matcher charset = CHARSET.matcher(contentType);
    while (end >= 0 && charset.find()) {
      String name = charset.group(1);
      if (name != null && !isUtf8(name)) {
        return "The charset in the Content-Type must be UTF-8, but is "
            + Legible.quoted(name)
            + "; encode the body in UTF-8, and correct or omit the charset.";
      }
    }
    return null;
  }

  /** Returns whether a charset name denotes UTF-8 or its subset US-ASCII. */
  private static boolean isUtf8(String name) {
    try {
      return List.of(UTF_8, US_ASCII).contains(Charset.forName(name));
    } catch (IllegalArgumentException e) { // the name is malformed or unknown
      return false;
    }
  }
}
