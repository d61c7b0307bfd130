package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonLocation;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.Legible;
import org.plantstore.adapter.http.error.RefusedException;

/** Decodes a body, and quotes it where it is malformed. */
final class BodyText {

  private static final int NEAR_CHARACTERS = 20;

  private BodyText() {}

  /** Decodes strictly, because Jackson accepts forms that UTF-8 forbids (RFC 3629). */
  static CharBuffer decode(byte[] body) {
    if (body.length > 1 && (body[0] == 0 || body[1] == 0)) {
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body must be encoded in UTF-8, but looks like UTF-16 or UTF-32.");
    }
    ByteBuffer bytes = ByteBuffer.wrap(body);
    try {
      return UTF_8.newDecoder().decode(bytes);
    } catch (CharacterCodingException e) {
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body must be encoded in UTF-8, but is not at byte " + (bytes.position() + 1) + ".");
    }
  }

  /** Returns a refusal that quotes the text around the place where the parser stopped. */
  static RefusedException malformed(CharBuffer body, String demand, JsonLocation stop) {
    int offset = (int) stop.getCharOffset();
    int begin = Math.max(0, offset - NEAR_CHARACTERS);
    int end = Math.min(body.length(), offset + NEAR_CHARACTERS);
    String place = "line " + stop.getLineNr() + ", column " + stop.getColumnNr();
    String near = Legible.of(body.subSequence(begin, end));
    return new RefusedException(
        ErrorNumber.MALFORMED_JSON,
        demand + " Reading stopped at " + place + ", near '" + near + "'.");
  }
}
