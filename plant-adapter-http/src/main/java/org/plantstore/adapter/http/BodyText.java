package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonLocation;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.Legible;
import org.plantstore.adapter.http.error.RefusedException;

/** Decodes the text of a body, and quotes it where a parser has stopped. */
final class BodyText {

  private static final int NEAR_CHARACTERS = 20;

  private BodyText() {}

  /** Decodes strictly, because Jackson accepts forms that UTF-8 forbids (RFC 3629). */
  static CharBuffer decode(byte[] body) {
    ByteBuffer bytes = ByteBuffer.wrap(body);
    CharBuffer text;
    try {
      text = UTF_8.newDecoder().decode(bytes);
    } catch (CharacterCodingException e) {
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body must be encoded in UTF-8, but is not at byte " + (bytes.position() + 1) + ".");
    }
    if (!text.isEmpty() && text.charAt(0) == '\uFEFF') {
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body must not begin with a byte order mark; send UTF-8 without BOM.");
    }
    return text;
  }

  /** Returns a refusal with the place where a parser has stopped, and the text around it. */
  static RefusedException malformed(CharBuffer text, String demand, JsonLocation stop) {
    int offset = (int) stop.getCharOffset();
    int begin = Math.max(0, offset - NEAR_CHARACTERS);
    int end = Math.min(text.length(), offset + NEAR_CHARACTERS);
    String place = "line " + stop.getLineNr() + ", column " + stop.getColumnNr();
    String near = Legible.of(text.subSequence(begin, end));
    return new RefusedException(
        ErrorNumber.MALFORMED_JSON,
        demand + " Reading stopped at " + place + ", near '" + near + "'.");
  }
}
