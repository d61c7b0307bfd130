package org.plantstore.adapter.http.token;

import io.micronaut.http.HttpHeaders;
import java.util.List;
import java.util.regex.Pattern;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** Reads bearer tokens from Authorization headers (RFC 6750, section 2.1). */
final class AuthorizationHeader {

  private static final String SCHEME = "Bearer ";

  private static final Pattern BARE_TOKEN = Pattern.compile("(?i)(?!bearer)[\\w.-]+");

  private AuthorizationHeader() {}

  /** Returns the bearer token if exactly one header exists and contains it, otherwise "". */
  static String token(HttpHeaders headers) {
    List<String> all = headers.getAll(HttpHeaders.AUTHORIZATION);
    String credentials = all.size() == 1 ? all.get(0) : "";
    return credentials.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        ? credentials.substring(SCHEME.length()).strip()
        : "";
  }

  /** Returns an exception that explains how to fix the headers of a request without a token. */
  static RefusedException noToken(HttpHeaders headers) {
    List<String> all = headers.getAll(HttpHeaders.AUTHORIZATION);
    String message = ErrorNumber.NO_TOKEN.description();
    if (all.size() > 1) {
      message = "The request has " + all.size() + " Authorization headers; send only one.";
    } else if (all.size() == 1) {
      message =
          BARE_TOKEN.matcher(all.get(0).strip()).matches()
              ? "The Authorization header has no scheme; write \"Bearer \" before the token."
              : "The Authorization header must consist of the word \"Bearer\", one space, and the"
                  + " token, without a colon or quotation marks.";
    }
    return new RefusedException(ErrorNumber.NO_TOKEN, message);
  }
}
