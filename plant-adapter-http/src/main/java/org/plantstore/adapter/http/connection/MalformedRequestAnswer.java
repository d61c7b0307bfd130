package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import org.plantstore.adapter.http.error.ErrorNumber;

/** The answer to a malformed request, which the framework does not see. */
final class MalformedRequestAnswer extends DefaultFullHttpResponse {

  static final ErrorNumber ERROR = ErrorNumber.MALFORMED_REQUEST;

  private static final byte[] BODY =
      "{\"error\":%d,\"message\":\"%s\"}"
          .formatted(ERROR.number(), ERROR.description())
          .getBytes(UTF_8);

  MalformedRequestAnswer(String path) {
    super(HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST, Unpooled.wrappedBuffer(BODY));
    headers()
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, BODY.length)
        .set("Link", ERROR.link(path));
  }
}
