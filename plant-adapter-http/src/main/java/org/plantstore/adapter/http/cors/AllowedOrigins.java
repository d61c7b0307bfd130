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
 * The origins whose pages may call the service (Fetch standard, section 3.3). Their pages can read
 * every response, including errors raised before the framework sees the request; the framework's
 * own CORS support would leave those out. Immutable.
 *
 * @param origins such as {@code https://app.example.org}, or {@code *} for any; none by default
 */
public record AllowedOrigins(List<String> origins) {

  public static final AllowedOrigins NONE = new AllowedOrigins(List.of());

  private static final String ANY = "*";

  /** RFC 6454, section 6.2. A browser writes an origin in lower case without its default port. */
  private static final Pattern ORIGIN =
      Pattern.compile(
          "(?!https://.*:443$|http://.*:80$)[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+])(:\\d+)?");

  /** Response headers that a page may read in addition to those that are always readable. */
  private static final AsciiString EXPOSED =
      AsciiString.cached("X-Request-Id, Retry-After, Link, WWW-Authenticate");

  /**
   * Parses the value of CORS_ALLOWED_ORIGINS.
   *
   * @throws ConfigurationException if a word in it is not an origin
   */
  public static AllowedOrigins of(String value) {
    List<String> origins = value.isEmpty() ? List.of() : List.of(value.strip().split(" +"));
    for (String origin : origins) {
      if (!origin.equals(ANY) && !ORIGIN.matcher(origin).matches()) {
        throw new ConfigurationException(
            "CORS_ALLOWED_ORIGINS must be a list such as https://app.example.org, separated by"
                + " spaces, in lower case and without a path or a default port, but has \""
                + origin
                + '"');
      }
    }
    return new AllowedOrigins(origins);
  }

  /** Returns why pages of an origin may not call the service, and how to change that. */
  static String refusal(String origin) {
    boolean isListable = ORIGIN.matcher(origin).matches();
    boolean isNamed = isListable || origin.equals("null"); // other text may contain a secret
    return "Pages of "
        + (isNamed ? "the origin \"" + Legible.of(origin) + '"' : "this origin")
        + " may not call the service; "
        + (isListable
            ? "to allow it, add the origin to CORS_ALLOWED_ORIGINS."
            : "CORS_ALLOWED_ORIGINS cannot list it, so serve the page from an address such as"
                + " https://app.example.org, and list that.");
  }

  /** Returns whether pages of an origin may call the service. */
  boolean contains(@Nullable String origin) {
    return origin != null && (origins.contains(ANY) || origins.contains(origin));
  }

  /** Adds the headers that make a browser pass the response on to the page. */
  public void set(HttpHeaders answer, HttpRequest request) {
    if (origins.isEmpty()) {
      return;
    }
    if (!answer.containsValue(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN, true)) {
      answer.add(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN);
    }
    String origin = request.headers().get(HttpHeaderNames.ORIGIN);
    if (contains(origin)) {
      answer
          .set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin)
          .set(HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
  }
}
