package org.plantstore.adapter.http.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.observe.AllowedOrigins;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Passes one request at a time to the framework, which would process pipelined creates concurrently
 * (RFC 9112, section 9.3.2), and records its answer. Stands behind {@link ConnectionEnd}. One per
 * connection, used by its event loop only.
 */
final class RequestSequence extends ChannelDuplexHandler {

  private final AllowedOrigins origins;
  private final Consumer<Exchange> ended;
  private RequestDecoder decoder = new RequestDecoder(this);
  private @Nullable Exchange exchange; // until it is answered
  private boolean isRead = true; // whether all of the last request is

  RequestSequence(AllowedOrigins origins, Consumer<Exchange> ended) {
    this.origins = origins;
    this.ended = ended;
  }

  /** Returns the decoder of the connection, which is replaced after a large head. */
  RequestDecoder decoder() {
    return decoder;
  }

  /** Replaces the decoder; the new one gets what the old one has not decoded. */
  void replaceDecoder(ChannelHandlerContext ofDecoder) {
    decoder = new RequestDecoder(this);
    ofDecoder.pipeline().replace(ofDecoder.handler(), ofDecoder.name(), decoder);
  }

  /** Returns whether a whole request is not answered yet, so that the next is not decoded. */
  boolean isAnswering() {
    return exchange != null && isRead;
  }

  /** Returns whether the client has not sent all of a request, although it is read. */
  boolean isUnfinished() {
    return !isRead || (!isAnswering() && decoder.isBegun());
  }

  /** Returns whether a message is a whole answer such as 100, which precedes the final one. */
  static boolean isInformational(Object message) {
    return message instanceof HttpResponse head
        && head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof Exchange head) {
      head.begin();
      // Each path has one media type. With another type in Accept, the framework would find no
      // route, and answer with 401.
      head.headers().remove(HttpHeaderNames.ACCEPT);
      exchange = head;
      isRead = !BodyMemory.hasBody(head); // the framework may answer before its end
    }
    isRead |= message instanceof LastHttpContent;
    if (context.channel().isActive()) {
      context.fireChannelRead(message);
    } else { // the client has left within the head
      ReferenceCountUtil.release(message);
    }
  }

  /** Reads nothing while a pipelined request waits. */
  @Override
  public void read(ChannelHandlerContext context) {
    if (!isAnswering() || !decoder.isBegun()) {
      context.read();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    Exchange answered = exchange;
    if (answered == null || isInformational(message)) {
      context.write(message, promise);
      return;
    }
    if (message instanceof HttpResponse head) {
      answered.recordAnswer(head);
      origins.set(head.headers(), answered);
    }
    if (message instanceof HttpContent part) {
      answered.addAnsweredBytes(part.content().readableBytes());
    }
    context.write(message, promise);
    if (message instanceof LastHttpContent) {
      exchange = null;
      answered.end();
      ended.accept(answered);
      if (decoder.isBegun()) {
        context.executor().execute(() -> decodeNext(context.pipeline().context(decoder)));
      }
    }
  }

  /** Decodes a pipelined request, which has arrived during the answer to the last one. */
  private void decodeNext(@Nullable ChannelHandlerContext ofDecoder) {
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
    if (!(event instanceof IdleStateEvent) || exchange == null) {
      context.fireUserEventTriggered(event);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    Exchange unanswered = exchange;
    if (unanswered != null) {
      ended.accept(unanswered);
    }
  }
}
