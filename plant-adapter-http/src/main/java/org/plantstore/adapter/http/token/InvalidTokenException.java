package org.plantstore.adapter.http.token;

import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/**
 * Refuses a token. The message is for the caller and never quotes the token. {@link #details} adds
 * the expected and the actual value for the owner of the token. Immutable.
 */
final class InvalidTokenException extends RefusedException {

  private static final long serialVersionUID = 1L;

  private final String comparison;

  InvalidTokenException(String message) {
    super(ErrorNumber.INVALID_TOKEN, message);
    comparison = "";
  }

  InvalidTokenException(
      ErrorNumber error, String message, String expected, @Nullable Object found) {
    super(error, message);
    String value = found instanceof String ? "\"" + found + '"' : String.valueOf(found);
    comparison = " Expected " + expected + ", found " + (found == null ? "none" : value) + ".";
  }

  static void require(boolean isMet, String message, String expected, @Nullable Object found) {
    if (!isMet) {
      throw new InvalidTokenException(ErrorNumber.INVALID_TOKEN, message, expected, found);
    }
  }

  /** Returns the message with the expected and the actual value. */
  String details() {
    return getMessage() + comparison;
  }
}
