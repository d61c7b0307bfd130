package org.plantstore.adapter.http.token;

import io.micronaut.http.HttpHeaders;
import java.util.List;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** The header that carries the bearer token (RFC 6750, section 2.1). */
final class AuthorizationHeader {

  private static final String SCHEME = "Bearer ";

  private AuthorizationHeader() {}

  /** Returns the token of the only Authorization header, or an empty string if there is none. */
  static String token(HttpHeaders headers) {
    List<String> all = headers.getAll(HttpHeaders.AUTHORIZATION);
    String credentials = all.size() == 1 ? all.get(0) : "";
    return startsWith(SCHEME, credentials) ? credentials.substring(SCHEME.length()).strip() : "";
  }

  /** Returns the refusal of a request without a token, which says what to change in its header. */
  static RefusedException refusal(HttpHeaders headers) {
    List<String> all = headers.getAll(HttpHeaders.AUTHORIZATION);
    return all.isEmpty()
        ? new RefusedException(ErrorNumber.NO_TOKEN)
        : new RefusedException(ErrorNumber.NO_TOKEN, fault(all));
  }

  private static String fault(List<String> all) {
    String credentials = all.get(0).strip();
    if (all.size() > 1) {
      return "The request has " + all.size() + " Authorization headers; send only one.";
    }
    if (credentials.isEmpty() || credentials.equalsIgnoreCase(SCHEME.strip())) {
      return "The Authorization header has no token; write \"Bearer \" and then the token.";
    }
    if (startsWith(SCHEME.strip(), credentials)) {
      return "The Authorization header must have only a space between \"Bearer\" and the token.";
    }
    if (SignedJwt.QUOTES.indexOf(credentials.charAt(0)) >= 0) {
      return "The Authorization header must not be in quotes; write \"Bearer \" and then the token,"
          + " without quotes.";
    }
    return credentials.indexOf(' ') < 0
        ? "The Authorization header lacks the scheme; write \"Bearer \" before the token."
        : "The Authorization header has another scheme; write \"Bearer \" and then the token.";
  }

  private static boolean startsWith(String start, String credentials) {
    return credentials.regionMatches(true, 0, start, 0, start.length());
  }
}
