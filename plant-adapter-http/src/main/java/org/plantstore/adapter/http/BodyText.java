package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonLocation;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.HexFormat;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.Legible;
import org.plantstore.adapter.http.error.RefusedException;

/** Decodes request bodies, and describes where a body is malformed. */
final class BodyText {

  private static final int QUOTED_CHARACTERS = 20; // on each side of the error

  private BodyText() {}

  /** Decodes UTF-8 strictly, because Jackson accepts byte sequences that RFC 3629 forbids. */
  static CharBuffer decode(byte[] body) {
    if (body.length > 1 && (body[0] == 0 || body[1] == 0)) {
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body looks like UTF-16 or UTF-32, but must be UTF-8; encode it in UTF-8.");
    }
    ByteBuffer bytes = ByteBuffer.wrap(body);
    try {
      return UTF_8.newDecoder().decode(bytes);
    } catch (CharacterCodingException e) {
      String value = HexFormat.of().withUpperCase().toHexDigits(bytes.get());
      String place = bytes.position() + " (0x" + value + ")";
      throw new RefusedException(
          ErrorNumber.MALFORMED_JSON,
          "The body is not valid UTF-8 at byte " + place + "; encode the entire body in UTF-8.");
    }
  }

  /** Returns an exception that quotes the text around the place where the parser stopped. */
  static RefusedException malformed(
      CharBuffer body, String fault, JsonLocation stop, String advice) {
    int offset = (int) stop.getCharOffset();
    int begin = Math.max(0, offset - QUOTED_CHARACTERS);
    int end = Math.min(body.length(), offset + QUOTED_CHARACTERS);
    String place = " at line " + stop.getLineNr() + ", column " + stop.getColumnNr();
    String near = ", near '" + Legible.of(body.subSequence(begin, end)) + "'; ";
    return new RefusedException(ErrorNumber.MALFORMED_JSON, fault + place + near + advice);
  }
}
