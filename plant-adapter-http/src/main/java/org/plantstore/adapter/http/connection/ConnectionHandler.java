package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.Date;
import java.util.concurrent.Callable;
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
 * (RFC 9112, section 9.3.2). Reads nothing while a pipelined request waits. Refuses malformed
 * requests. The connection closes after an answer to a malformed or incomplete request, to a
 * request with {@code Connection: close}, or during the drain. Used by its event loop only.
 */
final class ConnectionHandler extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
  private static final LogLimit NO_MEMORY = new LogLimit();

  /** The memory of a part of a body in addition to its content, which may be a single byte. */
  private static final int BYTES_PER_PART = 256;

  /** Bounds the rest of a refused body that is read: most clients send all before they read. */
  private static final long MAX_DROPPED_BYTES = 16 * 1024 * 1024;

  /** How long a new connection stays open for its first request when the drain has ended. */
  private static final long FIRST_REQUEST_SECONDS = 5;

  private final BodyBudget bodies;
  private final BooleanSupplier isDraining;
  private final Consumer<Exchange> ended;
  private final RequestDecoder decoder = new RequestDecoder(this::isAnswering);
  private ReadState state = ReadState.HEAD;
  private boolean isNew = true; // until its first request
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

  RequestDecoder decoder() {
    return decoder;
  }

  /** Returns whether a whole request is not answered yet, so that the next is not decoded. */
  private boolean isAnswering() {
    return exchange != null && state == ReadState.HEAD;
  }

  /** Returns whether a pipelined request waits, so that nothing is read. */
  boolean isPaused() {
    return isAnswering() && decoder.isLineBegun();
  }

  private void receivePipelined(ChannelHandlerContext context) {
    ChannelHandlerContext ofDecoder = context.pipeline().context(decoder);
    if (ofDecoder != null) { // null after the end of the connection
      try {
        decoder.channelRead(ofDecoder, Unpooled.EMPTY_BUFFER);
        decoder.channelReadComplete(ofDecoder);
      } catch (Exception e) {
        exceptionCaught(context, e);
      }
    }
  }

  /**
   * Reads on. The framework starts a request when a read is complete. A small body is awaited
   * first, because ending a request that was started costs more than the client has spent.
   */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (state == ReadState.BODY
        && bodyBytes <= BodyBudget.FREE_BYTES
        && !HttpUtil.is100ContinueExpected(requireNonNull(exchange))) {
      context.read();
    } else {
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void read(ChannelHandlerContext context) {
    if (!isPaused()) {
      context.read();
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
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
    isNew = false;
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

  /** Answers a malformed request, of which the framework has seen at most an incomplete body. */
  @SuppressWarnings("JavaUtilDate") // as Netty's formatter takes it
  private void refuse(ChannelHandlerContext context, Exchange malformed) {
    state = ReadState.END;
    ErrorNumber error = ErrorNumber.MALFORMED_REQUEST;
    malformed.recordError(error);
    String body = "{\"error\":" + error.number() + ",\"message\":\"" + error.description() + "\"}";
    FullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.BAD_REQUEST,
            malformed.method().equals(HttpMethod.HEAD)
                ? Unpooled.EMPTY_BUFFER
                : Unpooled.copiedBuffer(body, US_ASCII));
    answer
        .headers()
        .set(HttpHeaderNames.DATE, DateFormatter.format(new Date())) // RFC 9110, section 6.6.1
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, body.length())
        .set("Link", error.link(malformed.path()));
    write(context, answer, context.newPromise());
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
      answered.recordAnswer(response);
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
    answered.end();
    ended.accept(answered);
    if (decoder.isLineBegun()) {
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

  /**
   * Closes only the output while the client may be sending a refused body. When the drain has
   * ended, waits for the first request of a new connection.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    TlsHandler tls = context.pipeline().get(TlsHandler.class);
    if (isNew && isDraining.getAsBoolean()) {
      context.channel().closeFuture().addListener(closed -> promise.trySuccess());
      Callable<?> closeIfUnused = () -> isNew ? context.close() : null;
      context.executor().schedule(closeIfUnused, FIRST_REQUEST_SECONDS, SECONDS);
    } else if (state != ReadState.REFUSED_BODY) {
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
    if (cause instanceof OutOfMemoryError && NO_MEMORY.tryAcquire()) {
      LOG.warn(
          "Connections are closed because Netty has no direct memory left for their input: {}",
          cause.getMessage());
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (exchange != null) {
      ended.accept(exchange);
    }
    bodies.release(bodyBytes);
  }
}
