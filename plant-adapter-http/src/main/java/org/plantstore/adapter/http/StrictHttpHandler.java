package org.plantstore.adapter.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;

/**
 * Refuses what the framework's decoder lets through although RFC 9112 forbids it: a head that no
 * HTTP/1.1 request has (sections 2.3, 3.2, 6.1), and a body whose framing breaks, which would
 * otherwise count as complete (section 8). One per connection, used by its event loop alone.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class StrictHttpHandler extends ChannelDuplexHandler {

  private final byte[] malformedRequest;
  private int unanswered;
  private boolean answering;
  private boolean broken;
  private String target = "/";

  StrictHttpHandler(byte[] malformedRequest) {
    this.malformedRequest = malformedRequest;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (broken) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (message instanceof HttpRequest request) {
      unanswered++;
      target = request.uri();
      if (request.decoderResult().isSuccess() && !isWellFormed(request)) {
        // The framework answers and closes as it does for what the decoder itself refuses. It must
        // not meet a target that it cannot parse, and would answer in the version of the request.
        request
            // Of the same depth, because references in the answer are relative to the target.
            .setUri("/" + "x/".repeat(ErrorCatalogue.depthOf(path())))
            .setProtocolVersion(HttpVersion.HTTP_1_1)
            .setDecoderResult(
                DecoderResult.failure(new IllegalArgumentException("no request of RFC 9112")));
      }
    } else if (message instanceof HttpContent content && content.decoderResult().isFailure()) {
      ReferenceCountUtil.release(message);
      broken = true;
      if (unanswered == 0) {
        context.close();
      } else if (unanswered == 1 && !answering) {
        refuse(context);
      }
      return;
    }
    context.fireChannelRead(message);
  }

  /** The requests before the broken one are answered first; it is the last one. */
  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (message instanceof HttpResponse response
        && response.status().codeClass() != HttpStatusClass.INFORMATIONAL) {
      answering = true;
    }
    boolean answered = answering && message instanceof LastHttpContent;
    if (answered) {
      answering = false;
      unanswered--;
    }
    if (answered && broken && unanswered == 0) {
      context.write(message, promise.unvoid().addListener(ChannelFutureListener.CLOSE));
      return;
    }
    context.write(message, promise);
    if (answered && broken && unanswered == 1) {
      refuse(context);
    }
  }

  private void refuse(ChannelHandlerContext context) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.BAD_REQUEST,
            Unpooled.wrappedBuffer(malformedRequest));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, malformedRequest.length)
        .set("link", ErrorCatalogue.link(ErrorNumber.MALFORMED_REQUEST, path()))
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  /** Answers the path of the target, which may be no URI at all. */
  private String path() {
    return target.replaceFirst("^[^/?#]+://[^/?#]*", "").replaceFirst("[?#].*", "");
  }

  private static boolean isWellFormed(HttpRequest request) {
    boolean current = request.protocolVersion().equals(HttpVersion.HTTP_1_1);
    if (!current && !request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      return false;
    }
    HttpHeaders headers = request.headers();
    int hosts = headers.getAll(HttpHeaderNames.HOST).size();
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    return (hosts == 1 || (hosts == 0 && !current))
        && (codings.isEmpty()
            || (codings.size() == 1 && codings.get(0).equalsIgnoreCase("chunked")))
        && isTarget(request.uri());
  }

  private static boolean isTarget(String text) {
    try {
      new URI(text);
      return true;
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
