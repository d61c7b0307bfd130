package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.regex.Pattern;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** The text of a body, where Jackson is laxer than UTF-8 or stricter than JSON. */
final class BodyText {

  /**
   * One escape, or both of a pair of surrogates. The group is the code of an unpaired surrogate.
   */
  private static final Pattern ESCAPE =
      Pattern.compile("\\\\(?:u(?i:d[89ab]..)\\\\u(?i:d[c-f]..)|u((?i:d[89a-f][0-9a-f]{2}))|.)");

  private BodyText() {}

  /**
   * Replaces escapes of unpaired surrogates, which RFC 8259 allows (section 8.2) and Jackson
   * refuses in names. Spaces preserve the columns.
   */
  static CharBuffer replaceUnpairedSurrogates(CharBuffer text) {
    String replaced =
        ESCAPE
            .matcher(text)
            .replaceAll(escape ->
                escape.group(1) == null
                    ? "$0"
                    : (char) Integer.parseInt(escape.group(1), 16) + "     ");
    return CharBuffer.wrap(replaced.toCharArray());
  }

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
