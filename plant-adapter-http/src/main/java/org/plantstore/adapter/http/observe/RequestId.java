package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The id of a request, and the id of its trace. */
final class RequestId {

  /** The header that carries the id, in a request and in its answer. */
  static final AsciiString HEADER = AsciiString.cached("X-Request-Id");

  /** Log lines have the id as it is. */
  private static final Pattern WELL_FORMED = Pattern.compile("[a-zA-Z0-9._-]{1,64}");

  /** W3C Trace Context, section 3.2: version, trace id, parent id, flags, and later additions. */
  private static final Pattern TRACE_PARENT =
      Pattern.compile(
          "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
              + "(-.*)?");

  private RequestId() {}

  /** Returns the id that the client sent, or 128 random bits unless there is one valid id. */
  static String of(HttpHeaders headers) {
    List<String> sent = headers.getAll(HEADER);
    if (sent.size() == 1 && WELL_FORMED.matcher(sent.get(0)).matches()) {
      return sent.get(0);
    }
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  /** Returns the id of the trace, or null unless there is one valid {@code traceparent}. */
  static @Nullable String traceIdOf(HttpHeaders headers) {
    List<String> parents = headers.getAll("traceparent");
    Matcher parent = TRACE_PARENT.matcher(parents.size() == 1 ? parents.get(0) : "");
    return parent.matches() ? parent.group(1) : null;
  }
}
