package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Refuses a request that is not well-formed. The framework never sees a malformed head. Of a
 * malformed body it sees the part before the fault. Stands behind {@link RequestSequence}. One per
 * connection, used by its event loop only.
 */
final class MalformedRequests extends ChannelInboundHandlerAdapter {

  private final CurrentRequest current;

  MalformedRequests(CurrentRequest current) {
    this.current = current;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (isMalformed((HttpObject) message)) {
      ReferenceCountUtil.release(message);
      current.end();
      if (context.channel().isActive()) { // otherwise the client has left, and gets no answer
        context.writeAndFlush(refusal(requireNonNull(current.exchange())));
      }
      return;
    }
    if (message instanceof Exchange head) {
      current.endHead(head);
    }
    context.fireChannelRead(message);
  }

  private static boolean isMalformed(HttpObject part) {
    return part.decoderResult().isFailure()
        || (part instanceof Exchange head && !RequestHead.isWellFormed(head));
  }

  private static FullHttpResponse refusal(Exchange request) {
    ErrorNumber error = ErrorNumber.MALFORMED_REQUEST;
    request.recordError(error);
    String body = "{\"error\":" + error.number() + ",\"message\":\"" + error.description() + "\"}";
    FullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.BAD_REQUEST,
            request.method().equals(HttpMethod.HEAD)
                ? Unpooled.EMPTY_BUFFER
                : Unpooled.copiedBuffer(body, US_ASCII));
    answer
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, body.length())
        .set("Link", error.link(request.path()));
    return answer;
  }
}
