package org.plantstore.adapter.http.connection;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.TlsContexts.TlsHandler;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes one request at a time to the framework, which would process pipelined creates concurrently
 * (RFC 9112, section 9.3.2); while one waits, nothing is read. Refuses malformed requests. Closes
 * the connection after the answer to a request that is malformed, is its client's last, or is
 * answered before its end, and after any answer during the drain. Used by its event loop only.
 */
final class ConnectionHandler extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
  private static final LogLimit NO_MEMORY = new LogLimit();

  /** The memory of a part of a body in addition to its bytes, of which there may be only one. */
  private static final int BYTES_PER_PART = 256;

  /** How much of a refused body is dropped: most clients read only after sending all of it. */
  private static final long MAX_DROPPED_BYTES = 16 * 1024 * 1024;

  private final BodyBudget bodies;
  private final BooleanSupplier isDraining;
  private final Consumer<Exchange> ended;
  private final Queue<Object> pipelined = new ArrayDeque<>(1);
  private ReadState state = ReadState.HEAD;
  private @Nullable Exchange exchange; // until it is answered
  private long bodyBytes;
  private long droppedBytes;

  ConnectionHandler(BodyBudget bodies, BooleanSupplier isDraining, Consumer<Exchange> ended) {
    this.bodies = bodies;
    this.isDraining = isDraining;
    this.ended = ended;
  }

  ReadState state() {
    return state;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (pipelined.isEmpty() && !isPipelined(message)) {
      receive(context, message);
    } else {
      pipelined.add(message);
    }
  }

  private boolean isPipelined(Object message) {
    return exchange != null && message instanceof HttpRequest;
  }

  private void receivePipelined(ChannelHandlerContext context) {
    while (!pipelined.isEmpty() && !isPipelined(pipelined.element())) {
      receive(context, pipelined.remove());
    }
    context.fireChannelReadComplete(); // after which the framework reads on
  }

  @Override
  public void read(ChannelHandlerContext context) {
    if (pipelined.isEmpty()) {
      context.read();
    }
  }

  private void receive(ChannelHandlerContext context, Object message) {
    if (state == ReadState.REFUSED_BODY || state == ReadState.END) {
      drop(context, message);
    } else if (state == ReadState.BODY) {
      receiveBody(context, (HttpContent) message);
    } else if (message instanceof Exchange head) {
      receiveHead(context, head);
    } else {
      context.fireChannelRead(message); // the end of a request without a body
    }
  }

  private void receiveHead(ChannelHandlerContext context, Exchange head) {
    exchange = head;
    head.begin();
    if (head.decoderResult().isFailure() || !RequestHead.isWellFormed(head)) {
      refuse(context, head);
    } else {
      state = ReadState.afterHead(head);
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
      state = part instanceof LastHttpContent ? ReadState.afterBody(head) : state;
      context.fireChannelRead(part);
    } else {
      state = ReadState.REFUSED_BODY;
      drop(context, part);
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
    }
  }

  private void drop(ChannelHandlerContext context, Object message) {
    if (state == ReadState.REFUSED_BODY && message instanceof HttpContent part) {
      droppedBytes += part.content().readableBytes();
      if (part instanceof LastHttpContent || droppedBytes > MAX_DROPPED_BYTES) {
        state = ReadState.END;
        if (exchange == null) {
          context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
      }
    }
    ReferenceCountUtil.release(message);
  }

  private void refuse(ChannelHandlerContext context, Exchange malformed) {
    state = ReadState.END;
    malformed.fail(MalformedRequestAnswer.ERROR);
    write(context, new MalformedRequestAnswer(malformed.path()), context.newPromise());
    context.flush();
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    Exchange answered = exchange;
    if (answered == null) {
      ReferenceCountUtil.release(message); // the framework's answer to a request refused here
      promise.trySuccess();
      return;
    }
    if (message instanceof HttpResponse response) {
      if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
        context.write(message, promise);
        return;
      }
      state = state.afterAnswer(isDraining.getAsBoolean());
      if (state != ReadState.HEAD) {
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
      answered.answer(response);
    }
    if (message instanceof HttpContent part) {
      answered.addAnsweredBytes(part.content().readableBytes());
    }
    context.write(
        message, message instanceof LastHttpContent ? end(context, answered, promise) : promise);
  }

  /** Ends the exchange, and returns a promise that cleans up when the answer is written. */
  private ChannelPromise end(
      ChannelHandlerContext context, Exchange answered, ChannelPromise promise) {
    long takenBytes = bodyBytes;
    bodyBytes = 0;
    exchange = null;
    answered.end(true);
    ended.accept(answered);
    if (!pipelined.isEmpty()) {
      context.executor().execute(() -> receivePipelined(context));
    }
    ChannelPromise written = promise;
    if (takenBytes > BodyBudget.FREE_BYTES) {
      written = written.unvoid().addListener(future -> bodies.release(takenBytes));
    }
    return state == ReadState.HEAD
        ? written
        : written.unvoid().addListener(ChannelFutureListener.CLOSE);
  }

  /** Closes only the output while the client may be sending a refused body. */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    TlsHandler tls = context.pipeline().get(TlsHandler.class);
    if (state != ReadState.REFUSED_BODY) {
      context.close(promise);
    } else if (tls != null) {
      tls.closeOutbound(promise);
    } else {
      ((DuplexChannel) context.channel()).shutdownOutput(promise);
    }
  }

  /** Closes the connection: the client has reset it, the decoder fails, or memory is exhausted. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    state = ReadState.END;
    context.close();
    LOG.debug("A connection is closed", cause);
    // Netty's bound of direct memory, which does not end the JVM.
    if (cause instanceof OutOfMemoryError && NO_MEMORY.isDue()) {
      LOG.warn(
          "Connections are closed because there is no memory for what comes: {}",
          cause.getMessage());
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    pipelined.forEach(ReferenceCountUtil::release);
    pipelined.clear();
    if (exchange != null) {
      exchange.end(false);
      ended.accept(exchange);
    }
    bodies.release(bodyBytes);
  }
}
