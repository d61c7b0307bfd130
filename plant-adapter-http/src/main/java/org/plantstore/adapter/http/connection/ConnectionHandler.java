package org.plantstore.adapter.http.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what the framework gets of a connection, and when the connection ends. A request that RFC
 * 9112 does not allow is refused when those before it are answered. The connection is closed behind
 * the answer to a request that is broken, that its client calls the last, or that is answered
 * before its end, and behind the next answer when the service is about to stop. One per connection,
 * behind the decoder; used by its event loop alone.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class ConnectionHandler extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
  private static final RareLine NO_MEMORY = new RareLine();

  /**
   * How much of a body is dropped: most clients read the refusal only when they have sent
   * everything.
   */
  private static final long MAX_DROPPED_BYTES = 16 * 1024 * 1024;

  private final MalformedRequestAnswer malformedRequest;
  private final Draining draining;
  private final UnansweredRequests unanswered;
  private Input input = Input.HEAD;
  private long droppedBytes;

  ConnectionHandler(
      MalformedRequestAnswer malformedRequest, Draining draining, UnansweredRequests unanswered) {
    this.malformedRequest = malformedRequest;
    this.draining = draining;
    this.unanswered = unanswered;
  }

  /** Returns what comes next. */
  Input input() {
    return input;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    switch (input) {
      case HEAD -> {
        if (message instanceof Exchange exchange) {
          begin(context, exchange);
        } else {
          context.fireChannelRead(message); // the end of a request without a body
        }
      }
      case EXPECTED_BODY, BODY -> receive(context, (HttpContent) message);
      default -> drop(context, message);
    }
  }

  private void begin(ChannelHandlerContext context, Exchange exchange) {
    unanswered.add(exchange);
    if (exchange.decoderResult().isFailure() || !RequestHead.isWellFormed(exchange)) {
      refuse(context);
    } else {
      input = Input.behindHead(exchange);
      context.fireChannelRead(exchange);
    }
  }

  private void receive(ChannelHandlerContext context, HttpContent part) {
    if (part.decoderResult().isFailure()) {
      part.release();
      refuse(context);
      return;
    }
    if (part instanceof LastHttpContent) {
      input = Input.behindBody(unanswered.last());
    }
    int bytes = part.content().readableBytes();
    if (bytes > 0 && !unanswered.take(bytes)) {
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
    }
    context.fireChannelRead(part);
  }

  private void drop(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpContent part && input == Input.REFUSED_BODY) {
      droppedBytes += part.content().readableBytes();
      if (part instanceof LastHttpContent || droppedBytes > MAX_DROPPED_BYTES) {
        input = Input.NONE;
        if (unanswered.isEmpty()) {
          context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
      }
    }
    ReferenceCountUtil.release(message);
  }

  /** Refuses the last request, now or when those before it are answered. */
  private void refuse(ChannelHandlerContext context) {
    input = Input.BROKEN;
    if (unanswered.isAtLast() && !unanswered.isAnswering()) {
      input = Input.NONE;
      write(context, malformedRequest.to(unanswered.first()), context.newPromise());
      context.flush();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (unanswered.isEmpty()) {
      ReferenceCountUtil.release(message); // the framework's answer to what is refused already
      promise.trySuccess();
      return;
    }
    if (message instanceof HttpResponse response) {
      if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
        input = Input.BODY;
        context.write(message, promise);
        return;
      }
      beginAnswer(response);
    }
    if (message instanceof HttpContent part) {
      unanswered.continueAnswer(part);
    }
    if (message instanceof LastHttpContent) {
      endAnswer(context, message, promise);
    } else {
      context.write(message, promise);
    }
  }

  private void beginAnswer(HttpResponse response) {
    unanswered.beginAnswer(response);
    if (!unanswered.isAtLast()) {
      return;
    }
    input = input.behindAnswer(draining.hasBegun());
    if (input != Input.HEAD) {
      response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
  }

  private void endAnswer(ChannelHandlerContext context, Object end, ChannelPromise promise) {
    ChannelPromise written = unanswered.endAnswer(promise);
    boolean isLast = unanswered.isEmpty() && input == Input.NONE;
    context.write(
        end, isLast ? written.unvoid().addListener(ChannelFutureListener.CLOSE) : written);
    if (input == Input.BROKEN) {
      refuse(context);
    }
  }

  /** The client has reset the connection, the decoder gives up, or there is no memory to read. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    input = Input.NONE;
    context.close();
    if (cause instanceof OutOfMemoryError && NO_MEMORY.isDue()) {
      LOG.warn(
          "Connections are closed because there is no memory for what comes: {}",
          cause.getMessage());
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    unanswered.endAll();
  }
}
