package org.plantstore.adapter.http.error;

import java.util.HexFormat;

/** Makes text from requests visible and short, so that messages can quote it. */
public final class Legible {

  private static final int MAX_CHARACTERS = 64;

  private Legible() {}

  /** Returns the beginning of a text, with everything but letters, digits and ASCII escaped. */
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
}
