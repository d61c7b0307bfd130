package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** The text of a body, where Jackson is laxer than UTF-8. */
final class BodyText {

  private BodyText() {}

  /** Decodes strictly, because Jackson accepts forms that UTF-8 forbids (RFC 3629). */
  static CharBuffer decode(byte[] body) {
    CharBuffer text;
    try {
      text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body));
    } catch (CharacterCodingException e) {
      throw new RefusedException(ErrorNumber.MALFORMED_JSON, "The body must be UTF-8.");
    }
    if (!text.isEmpty() && text.charAt(0) == '\uFEFF') {
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body must not begin with a byte order mark (RFC 8259, section 8.1).");
    }
    return text;
  }
}
