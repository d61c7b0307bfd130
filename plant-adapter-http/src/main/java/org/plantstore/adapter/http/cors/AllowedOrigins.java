package org.plantstore.adapter.http.cors;

import io.micronaut.context.exceptions.ConfigurationException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.Legible;

/**
 * The origins whose web pages may call the service (Fetch standard, section 3.3). Web pages from
 * these origins can read every response. The framework's CORS support is not used, because it would
 * not apply to errors that occur before the framework processes the request. Immutable.
 *
 * @param origins origins such as {@code https://app.example.org}, or {@code *} for any origin
 */
public record AllowedOrigins(List<String> origins) {

  /** Prevents web pages from other origins from calling the service. */
  public static final AllowedOrigins NONE = new AllowedOrigins(List.of());

  private static final String ANY = "*";

  /**
   * Matches an origin (RFC 6454, section 6.2) as browsers send it: in lowercase and without a
   * default port.
   */
  private static final Pattern ORIGIN =
      Pattern.compile(
          "(?!https://.*:443$|http://.*:80$)[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+])(:\\d+)?");

  /** The response headers that web pages may read in addition to the CORS-safelisted headers. */
  private static final AsciiString EXPOSED =
      AsciiString.cached("X-Request-Id, Retry-After, Link, WWW-Authenticate");

  /**
   * Parses the value of CORS_ALLOWED_ORIGINS.
   *
   * @param value origins separated by spaces, or an empty string to allow none
   * @throws ConfigurationException if an element of the list is neither an origin nor {@code *}
   */
  public static AllowedOrigins of(String value) {
    List<String> origins = value.isEmpty() ? List.of() : List.of(value.strip().split(" +"));
    for (String origin : origins) {
      if (!origin.equals(ANY) && !ORIGIN.matcher(origin).matches()) {
        throw new ConfigurationException(
            "CORS_ALLOWED_ORIGINS must be a space-separated list of lowercase origins without a path"
                + " or default port, such as https://app.example.org, but contains \""
                + origin
                + '"');
      }
    }
    return new AllowedOrigins(origins);
  }

  /** Returns the error message for requests from web pages whose origin is not allowed. */
  static String refusal(String origin) {
    boolean isListable = ORIGIN.matcher(origin).matches();
    boolean isNamed = isListable || origin.equals("null"); // any other text may contain a secret
    return "Web pages from "
        + (isNamed ? "the origin \"" + Legible.of(origin) + '"' : "this origin")
        + " may not call the service; "
        + (isListable
            ? "to allow them, add the origin to CORS_ALLOWED_ORIGINS."
            : "this origin cannot be added to CORS_ALLOWED_ORIGINS, so serve the page from an"
                + " origin such as https://app.example.org, and add that origin.");
  }

  /** Returns whether web pages from an origin may call the service. */
  boolean contains(@Nullable String origin) {
    return origin != null && (origins.contains(ANY) || origins.contains(origin));
  }

  /**
   * Adds the headers that permit a browser to expose the response to pages from allowed origins.
   */
  public void set(HttpHeaders response, HttpRequest request) {
    if (origins.isEmpty()) {
      return;
    }
    if (!response.containsValue(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN, true)) {
      response.add(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN);
    }
    String origin = request.headers().get(HttpHeaderNames.ORIGIN);
    if (contains(origin)) {
      response
          .set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin)
          .set(HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
  }
}
