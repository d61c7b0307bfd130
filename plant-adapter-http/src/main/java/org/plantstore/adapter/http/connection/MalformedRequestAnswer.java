package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.observe.Exchange;

/** The answer to a malformed request, which the framework does not see. */
final class MalformedRequestAnswer {

  private static final ErrorNumber NUMBER = ErrorNumber.MALFORMED_REQUEST;
  private static final byte[] BODY =
      "{\"error\":%d,\"message\":\"%s\"}"
          .formatted(NUMBER.number(), NUMBER.description())
          .getBytes(UTF_8);

  private MalformedRequestAnswer() {}

  /** Returns the answer to a request, and notes its error. */
  static FullHttpResponse to(Exchange exchange) {
    exchange.fail(NUMBER);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST, Unpooled.wrappedBuffer(BODY));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, BODY.length)
        .set("Link", NUMBER.link(exchange.path()));
    return response;
  }
}
