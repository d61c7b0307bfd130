package org.plantstore.adapter.http.error;

import java.util.HexFormat;

/** Escapes and shortens text from requests, so that messages can quote it safely. Stateless. */
public final class Legible {

  private static final int MAX_CHARACTERS = 64;

  private Legible() {}

  /**
   * Returns the first 64 characters of the text, followed by three dots if the text is longer. Each
   * character that is neither printable ASCII nor a Unicode letter or digit is escaped.
   */
  public static String of(CharSequence text) {
    StringBuilder excerpt = new StringBuilder();
    text.chars()
        .limit(MAX_CHARACTERS)
        .forEach(unit -> {
          if ((unit >= ' ' && unit <= '~') || Character.isLetterOrDigit(unit)) {
            excerpt.append((char) unit);
          } else {
            excerpt.append("\\u").append(HexFormat.of().toHexDigits((char) unit));
          }
        });
    return text.length() > MAX_CHARACTERS ? excerpt + "..." : excerpt.toString();
  }

  /**
   * Returns the beginning of the text, enclosed in quotation marks. Quotation marks and backslashes
   * in the text are escaped.
   */
  public static String quoted(String text) {
    return '"' + of(text.replace("\\", "\\\\").replace("\"", "\\\"")) + '"';
  }
}
