package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.Date;

/** The headers that all answers have. */
final class AnswerHeaders {

  private static final AsciiString TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

  private AnswerHeaders() {}

  @SuppressWarnings("JavaUtilDate") // as Netty's headers take it
  static void set(HttpHeaders headers, String requestId) {
    if (!headers.contains(HttpHeaderNames.DATE)) {
      headers.set(HttpHeaderNames.DATE, new Date()); // RFC 9110, section 6.6.1
    }
    headers.set(RequestIds.HEADER, requestId).set(TYPE_OPTIONS, NOSNIFF);
    if (!headers.contains(HttpHeaderNames.CACHE_CONTROL)) {
      headers.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
  }
}
