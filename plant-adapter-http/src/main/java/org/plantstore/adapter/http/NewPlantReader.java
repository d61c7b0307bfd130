package org.plantstore.adapter.http;

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
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/**
 * Reads the body of a create: refuses a body that is not declared as JSON or is encoded, and hands
 * the rest to {@link NewPlantJson}. The framework's own binding would coerce and default instead of
 * refusing.
 */
@Singleton
@Consumes(MediaType.ALL)
final class NewPlantReader implements MessageBodyReader<NewPlant> {

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";

  /**
   * {@code application/json} with well-formed parameters (RFC 9110, section 8.3.1). JSON is UTF-8
   * (RFC 8259, section 8.1): with a charset that says otherwise the body would be misread.
   */
  private static final Pattern JSON =
      Pattern.compile(
          "application/json(?:[ \\t]*;[ \\t]*(?:charset=(?:utf-8|\"utf-8\")|(?!charset=)"
              + TOKEN
              + "=(?:"
              + TOKEN
              + "|\"(?:[^\"\\\\]|\\\\.)*\"))?)*[ \\t]*",
          Pattern.CASE_INSENSITIVE);

  /** What the pattern may cost grows with the square of the length. */
  private static final int MAX_CONTENT_TYPE_CHARACTERS = 256;

  @Override
  public NewPlant read(
      Argument<NewPlant> type,
      @Nullable MediaType mediaType,
      Headers headers,
      InputStream inputStream) {
    requireReadable(headers);
    try {
      return NewPlantJson.read(inputStream.readAllBytes());
    } catch (IOException e) {
      throw new CodecException("the body, which is in memory, cannot be read", e);
    }
  }

  /**
   * Reads without the large buffer that a stream would need. The caller releases what is refused.
   */
  @Override
  public NewPlant read(
      Argument<NewPlant> type, @Nullable MediaType mediaType, Headers headers, ByteBuffer<?> body) {
    requireReadable(headers);
    NewPlant plant = NewPlantJson.read(body.toByteArray());
    if (body instanceof ReferenceCounted counted) {
      counted.release();
    }
    return plant;
  }

  /**
   * Requires that the headers declare a body that can be read here.
   *
   * @throws RefusedException if they do not
   */
  static void requireReadable(Headers headers) {
    List<String> contentTypes = headers.getAll(HttpHeaders.CONTENT_TYPE);
    if (contentTypes.size() != 1 || !isJson(contentTypes.get(0))) {
      throw new RefusedException(ErrorNumber.CONTENT_TYPE);
    }
    if (!headers.getAll(HttpHeaders.CONTENT_ENCODING).stream()
        .allMatch("identity"::equalsIgnoreCase)) {
      throw new RefusedException(ErrorNumber.CONTENT_ENCODING);
    }
  }

  private static boolean isJson(String contentType) {
    return contentType.length() <= MAX_CONTENT_TYPE_CHARACTERS
        && JSON.matcher(contentType).matches();
  }
}
