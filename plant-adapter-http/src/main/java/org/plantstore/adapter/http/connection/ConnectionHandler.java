package org.plantstore.adapter.http.connection;

import static java.util.Objects.requireNonNull;

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
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows each request of a connection to its answer. Refuses what RFC 9112 does not allow. Closes
 * the connection after the answer to a request that is broken, that its client calls the last, or
 * that is answered before its end, and after any answer when the service is about to stop. One per
 * connection, behind {@link PipelinedRequests}; used by its event loop alone.
 */
final class ConnectionHandler extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
  private static final LogLimit NO_MEMORY = new LogLimit();

  /** What each part of a body takes beside its bytes. A part may be as small as a byte. */
  private static final int BYTES_PER_PART = 256;

  /** How much of a refused body is dropped: most clients read only after sending all of it. */
  private static final long MAX_DROPPED_BYTES = 16 * 1024 * 1024;

  private final BodyBudget bodies;
  private final BooleanSupplier isDraining;
  private final Consumer<Exchange> ended;
  private Input input = Input.HEAD;

  /** The request that is not answered, or null if there is none. */
  private @Nullable Exchange exchange;

  private long bodyBytes;
  private long droppedBytes;

  ConnectionHandler(BodyBudget bodies, BooleanSupplier isDraining, Consumer<Exchange> ended) {
    this.bodies = bodies;
    this.isDraining = isDraining;
    this.ended = ended;
  }

  Input input() {
    return input;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (input == Input.HEAD && message instanceof Exchange head) {
      begin(context, head);
    } else if (input == Input.HEAD) {
      context.fireChannelRead(message); // the end of a request without a body
    } else if (input == Input.BODY || input == Input.EXPECTED_BODY) {
      receiveBody(context, (HttpContent) message);
    } else {
      drop(context, message);
    }
  }

  private void begin(ChannelHandlerContext context, Exchange head) {
    exchange = head;
    head.begin();
    if (head.decoderResult().isFailure() || !RequestHead.isWellFormed(head)) {
      refuse(context, head);
    } else {
      input = Input.afterHead(head);
      context.fireChannelRead(head);
    }
  }

  private void receiveBody(ChannelHandlerContext context, HttpContent part) {
    Exchange head = requireNonNull(exchange);
    int bytes = part.content().readableBytes() + BYTES_PER_PART;
    if (part.decoderResult().isFailure()) {
      part.release();
      refuse(context, head);
    } else if (bodies.take(bodyBytes, bytes)) {
      bodyBytes += bytes;
      input = part instanceof LastHttpContent ? Input.afterBody(head) : input;
      context.fireChannelRead(part);
    } else {
      input = Input.REFUSED_BODY;
      drop(context, part);
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
    }
  }

  private void drop(ChannelHandlerContext context, Object message) {
    if (input == Input.REFUSED_BODY && message instanceof HttpContent part) {
      droppedBytes += part.content().readableBytes();
      if (part instanceof LastHttpContent || droppedBytes > MAX_DROPPED_BYTES) {
        input = Input.NONE;
        if (exchange == null) {
          context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
      }
    }
    ReferenceCountUtil.release(message);
  }

  private void refuse(ChannelHandlerContext context, Exchange broken) {
    input = Input.NONE;
    write(context, MalformedRequestAnswer.to(broken), context.newPromise());
    context.flush();
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    Exchange answered = exchange;
    if (answered == null) {
      ReferenceCountUtil.release(message); // the framework's answer to what is refused already
      promise.trySuccess();
      return;
    }
    if (message instanceof HttpResponse response) {
      if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
        input = input == Input.EXPECTED_BODY ? Input.BODY : input;
        context.write(message, promise);
        return;
      }
      input = input.afterAnswer(isDraining.getAsBoolean());
      if (input != Input.HEAD) {
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
      answered.answer(response);
    }
    if (message instanceof HttpContent part) {
      answered.addAnsweredBytes(part.content().readableBytes());
    }
    context.write(message, message instanceof LastHttpContent ? end(answered, promise) : promise);
  }

  /** Ends the exchange, and returns a promise that does what is left when all is written. */
  private ChannelPromise end(Exchange answered, ChannelPromise promise) {
    long takenBytes = bodyBytes;
    bodyBytes = 0;
    exchange = null;
    answered.end(true);
    ended.accept(answered);
    ChannelPromise written = promise;
    if (takenBytes > BodyBudget.FREE_BYTES) {
      written = written.unvoid().addListener(future -> bodies.release(takenBytes));
    }
    return input == Input.NONE
        ? written.unvoid().addListener(ChannelFutureListener.CLOSE)
        : written;
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
    if (exchange != null) {
      exchange.end(false);
      ended.accept(exchange);
    }
    bodies.release(bodyBytes);
  }
}
