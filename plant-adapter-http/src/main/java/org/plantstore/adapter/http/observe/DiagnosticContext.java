package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.MDC;

/** The ids of a request and of its trace. The MDC has them only during work that may log. */
final class DiagnosticContext {

  /** The header of the id, in a request and in its answer. */
  static final AsciiString REQUEST_ID_HEADER = AsciiString.cached("X-Request-Id");

  private static final String REQUEST_ID = "request_id";
  private static final String TRACE_ID = "trace_id";

  /** Log lines have the id as it is. */
  private static final Pattern WELL_FORMED = Pattern.compile("[a-zA-Z0-9._-]{1,64}");

  /** W3C Trace Context, section 3.2: version, trace id, parent id, flags, and later additions. */
  private static final Pattern TRACE_PARENT =
      Pattern.compile(
          "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
              + "(-.*)?");

  private DiagnosticContext() {}

  /** Returns the id that the client sent, or 128 random bits unless there is one valid id. */
  static String requestIdOf(HttpHeaders headers) {
    List<String> sent = headers.getAll(REQUEST_ID_HEADER);
    if (sent.size() == 1 && WELL_FORMED.matcher(sent.get(0)).matches()) {
      return sent.get(0);
    }
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  static <T> T supply(Exchange exchange, Supplier<T> work) {
    List<String> parents = exchange.headers().getAll("traceparent");
    Matcher parent = TRACE_PARENT.matcher(parents.size() == 1 ? parents.get(0) : "");
    MDC.put(REQUEST_ID, exchange.requestId());
    if (parent.matches()) {
      MDC.put(TRACE_ID, parent.group(1));
    }
    try {
      return work.get();
    } finally {
      MDC.remove(REQUEST_ID);
      MDC.remove(TRACE_ID);
    }
  }
}
