package org.plantstore.adapter.http.connection;

import io.micronaut.json.JsonMapper;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import jakarta.inject.Singleton;
import java.io.IOException;
import org.plantstore.adapter.http.error.ErrorLink;
import org.plantstore.adapter.http.error.ErrorMessage;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * The answer to a request that the framework does not get, because it is not well-formed HTTP/1.1.
 */
@Singleton
final class MalformedRequestAnswer {

  private static final ErrorNumber NUMBER = ErrorNumber.MALFORMED_REQUEST;
  private static final AsciiString LINK = AsciiString.cached("link");

  private final byte[] body;

  MalformedRequestAnswer(JsonMapper json) throws IOException {
    this.body = json.writeValueAsBytes(new ErrorMessage(NUMBER.number(), NUMBER.description()));
  }

  /** Returns the answer to a request, and notes its error. */
  FullHttpResponse to(Exchange exchange) {
    exchange.fail(NUMBER);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST, Unpooled.wrappedBuffer(body));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
        .set(LINK, ErrorLink.to(NUMBER, exchange.path()));
    return response;
  }
}
