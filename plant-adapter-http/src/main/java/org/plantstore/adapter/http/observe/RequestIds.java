package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.MDC;

/**
 * The ids of a request: its own, from {@code X-Request-Id} or random, and that of its trace.
 *
 * @param headers the headers of the request
 * @param requestId 1 to 64 letters, digits, dots, underscores and hyphens
 */
record RequestIds(HttpHeaders headers, String requestId) {

  static final AsciiString HEADER = AsciiString.cached("X-Request-Id");
  static final RequestIds NONE = new RequestIds(EmptyHttpHeaders.INSTANCE, "");

  /** Safe to be written to the log unchanged. */
  private static final Pattern WELL_FORMED = Pattern.compile("[a-zA-Z0-9._-]{1,64}");

  /** W3C Trace Context, section 3.2: version, trace id, parent id, flags, and later additions. */
  private static final Pattern TRACE_PARENT =
      Pattern.compile(
          "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
              + "(-.*)?");

  static RequestIds of(HttpHeaders headers) {
    List<String> sent = headers.contains(HEADER) ? headers.getAll(HEADER) : List.of();
    boolean isUsable = sent.size() == 1 && WELL_FORMED.matcher(sent.get(0)).matches();
    return new RequestIds(headers, isUsable ? sent.get(0) : random());
  }

  private static String random() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  /** Runs work; log lines of this thread meanwhile carry only these ids. */
  void run(Runnable work) {
    List<String> parents = headers.getAll("traceparent");
    Matcher parent = TRACE_PARENT.matcher(parents.size() == 1 ? parents.get(0) : "");
    Map<String, String> outer = MDC.getCopyOfContextMap();
    MDC.setContextMap(
        parent.matches()
            ? Map.of("request_id", requestId, "trace_id", parent.group(1))
            : Map.of("request_id", requestId));
    try {
      work.run();
    } finally {
      MDC.setContextMap(outer == null ? Map.of() : outer);
    }
  }
}
