package org.plantstore.adapter.http.token;

import org.plantstore.adapter.http.error.ErrorNumber;

/** The challenge of a 401 (RFC 6750, section 3). */
public final class BearerChallenge {

  private BearerChallenge() {}

  /** Returns the value of {@code WWW-Authenticate}: it names an error only if a token was sent. */
  public static String of(ErrorNumber error) {
    return error == ErrorNumber.INVALID_TOKEN
        ? "Bearer realm=\"plants\", error=\"invalid_token\""
        : "Bearer realm=\"plants\"";
  }
}
