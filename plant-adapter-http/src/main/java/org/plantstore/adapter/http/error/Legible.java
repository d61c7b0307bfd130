package org.plantstore.adapter.http.error;

/** Values of requests as messages quote them: printable, and bounded. */
public final class Legible {

  private static final int MAX_CHARACTERS = 64;

  private Legible() {}

  /** Returns the beginning of a text, with a question mark for all that is not printable ASCII. */
  public static String of(String text) {
    String printable = text.replaceAll("[^ -~]", "?");
    return printable.length() > MAX_CHARACTERS
        ? printable.substring(0, MAX_CHARACTERS) + "..."
        : printable;
  }
}
