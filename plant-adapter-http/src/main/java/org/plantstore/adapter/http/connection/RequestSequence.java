package org.plantstore.adapter.http.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Consumer;
import org.plantstore.adapter.http.observe.AllowedOrigins;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Passes one request at a time to the framework, which would process pipelined creates concurrently
 * (RFC 9112, section 9.3.2), and records its answer. Reads nothing while a pipelined request waits.
 * Stands behind {@link ConnectionEnd}. One per connection, used by its event loop only.
 */
final class RequestSequence extends ChannelDuplexHandler {

  private final CurrentRequest current;
  private final AllowedOrigins origins;
  private final Consumer<Exchange> ended;

  RequestSequence(CurrentRequest current, AllowedOrigins origins, Consumer<Exchange> ended) {
    this.current = current;
    this.origins = origins;
    this.ended = ended;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof Exchange head) {
      head.begin();
      // Each path has one media type. With another type in Accept, the framework would find no
      // route, and answer with 401.
      head.headers().remove(HttpHeaderNames.ACCEPT);
      current.begin(head);
    }
    context.fireChannelRead(message);
  }

  @Override
  public void read(ChannelHandlerContext context) {
    if (!current.decoder().isPaused()) {
      context.read();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    Exchange answered = current.exchange();
    if (answered == null) {
      ReferenceCountUtil.release(message); // the framework's answer to a request refused here
      promise.trySuccess();
      return;
    }
    HttpResponse head = CurrentRequest.finalHead(message);
    if (head != null) {
      answered.recordAnswer(head);
      origins.set(head.headers(), answered);
    }
    if (message instanceof HttpContent part) {
      answered.addAnsweredBytes(part.content().readableBytes());
    }
    context.write(message, promise);
    if (CurrentRequest.isLastPart(message)) {
      current.answer();
      answered.end();
      ended.accept(answered);
      if (current.decoder().isLineBegun()) {
        context.executor().execute(() -> receivePipelined(context));
      }
    }
  }

  private void receivePipelined(ChannelHandlerContext context) {
    RequestDecoder decoder = current.decoder();
    ChannelHandlerContext ofDecoder = context.pipeline().context(decoder);
    if (ofDecoder != null) { // null after the end of the connection
      try {
        decoder.channelRead(ofDecoder, Unpooled.EMPTY_BUFFER);
        decoder.channelReadComplete(ofDecoder);
      } catch (Exception e) {
        ofDecoder.fireExceptionCaught(e);
      }
    }
  }

  /** A connection is not idle while its request waits for an answer; other time-outs end that. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (!(event instanceof IdleStateEvent) || current.exchange() == null) {
      context.fireUserEventTriggered(event);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    Exchange unanswered = current.exchange();
    if (unanswered != null) {
      ended.accept(unanswered);
    }
  }
}
