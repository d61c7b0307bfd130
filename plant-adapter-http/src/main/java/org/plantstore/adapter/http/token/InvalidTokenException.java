package org.plantstore.adapter.http.token;

import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/**
 * Thrown when a token is invalid or lacks a required claim. The message is sent to the caller and
 * never quotes the token. The result of {@link #details} also contains the expected and actual
 * values of the invalid header member or claim, so it must be shown only to the token's owner.
 * Immutable.
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
    comparison = " Expected " + expected + ", but found " + (found == null ? "none" : value) + ".";
  }

  /**
   * Throws an InvalidTokenException with the message, the expected value, and the actual value,
   * unless the requirement is met.
   */
  static void require(boolean isMet, String message, String expected, @Nullable Object found) {
    if (!isMet) {
      throw new InvalidTokenException(ErrorNumber.INVALID_TOKEN, message, expected, found);
    }
  }

  /** Returns the message, followed by the expected and actual values if they are known. */
  String details() {
    return getMessage() + comparison;
  }
}
