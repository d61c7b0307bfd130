package org.plantstore.adapter.http.token;

import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** Refuses a token. Has a reason for operators, which the caller is not told. Immutable. */
final class InvalidTokenException extends RefusedException {

  private static final long serialVersionUID = 1L;

  private final String reason;

  InvalidTokenException(String reason) {
    this(reason, ErrorNumber.INVALID_TOKEN.description());
  }

  InvalidTokenException(String reason, String message) {
    super(ErrorNumber.INVALID_TOKEN, message);
    this.reason = reason;
  }

  static void require(boolean isMet, String otherwise) {
    if (!isMet) {
      throw new InvalidTokenException(otherwise);
    }
  }

  String reason() {
    return reason;
  }
}
