package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

/**
 * The id of a request, in its answer and in the log: the one that its sender gives it in the header
 * {@code X-Request-Id}, if that is well formed, and else one that is made for it.
 */
final class RequestId {

  /** The header that carries it, in a request and in its answer. */
  static final AsciiString HEADER = AsciiString.cached("X-Request-Id");

  /** It goes into log lines as it is, so it must be nothing but a short word. */
  private static final Pattern WELL_FORMED = Pattern.compile("[a-zA-Z0-9._-]{1,64}");

  private RequestId() {}

  /** Returns the id of a request with these headers. */
  static String of(HttpHeaders headers) {
    List<String> sent = headers.getAll(HEADER);
    return sent.size() == 1 && WELL_FORMED.matcher(sent.get(0)).matches() ? sent.get(0) : make();
  }

  /** Returns 128 random bits as hexadecimal digits. */
  static String make() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }
}
