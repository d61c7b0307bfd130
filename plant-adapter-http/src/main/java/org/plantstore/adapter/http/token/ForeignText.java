package org.plantstore.adapter.http.token;

/** Text of a provider or a token, made fit for one line of a message. */
final class ForeignText {

  private ForeignText() {}

  /** Returns the beginning of a foreign text as a short line of printable characters. */
  static String printable(String text, int maxCharacters) {
    String line = text.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), maxCharacters));
  }

  static String quoted(String text) {
    return '"' + printable(text, 200).replace('"', '?') + '"';
  }
}
