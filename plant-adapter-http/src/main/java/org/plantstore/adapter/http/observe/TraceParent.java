package org.plantstore.adapter.http.observe;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the header {@code traceparent} of W3C Trace Context. */
final class TraceParent {

  /** The header that carries it. */
  static final String HEADER = "traceparent";

  /** Version, trace id, parent id, flags, and what a later version may add. */
  private static final Pattern FORM =
      Pattern.compile(
          "(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?");

  private static final String VERSION_WITHOUT_MORE = "00";

  private TraceParent() {}

  /**
   * Answers the trace id of a request.
   *
   * @param headers the request's headers of this name
   * @return the trace id, or null if there is not exactly one header of a valid form
   */
  static @Nullable String traceIdOf(List<String> headers) {
    if (headers.size() != 1) {
      return null;
    }
    Matcher parts = FORM.matcher(headers.get(0));
    boolean isValid =
        parts.matches() && (parts.group(3) == null || !parts.group(1).equals(VERSION_WITHOUT_MORE));
    return isValid ? parts.group(2) : null;
  }
}
