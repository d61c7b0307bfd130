package org.plantstore.adapter.http.connection;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import java.util.Date;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.observe.RequestRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes requests to the framework and responses to the client, records both, and closes the
 * connection after its last response. In the pipeline, this handler is the last one before the
 * framework's handlers. Used only by the connection's event loop.
 */
final class RequestFlow extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(RequestFlow.class);
  private static final AsciiString TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

  /** The time that a graceful shutdown waits for a request that a client may already have sent. */
  private static final long LAST_REQUEST_SECONDS = 5;

  private final Connection connection;
  private final BodyMemory body;
  private final BooleanSupplier isDraining;
  private final AllowedOrigins origins;
  private final Consumer<RequestRecord> ended;
  private @Nullable RequestRecord request; // null between requests
  private boolean isUsed;
  private boolean isLastResponse;

  RequestFlow(
      Connection connection,
      BodyMemory body,
      BooleanSupplier isDraining,
      AllowedOrigins origins,
      Consumer<RequestRecord> ended) {
    this.connection = connection;
    this.body = body;
    this.isDraining = isDraining;
    this.origins = origins;
    this.ended = ended;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (connection.isDiscarding()) {
      ReferenceCountUtil.release(message);
      if (message instanceof LastHttpContent) {
        connection.requestReceived();
        // Closes the connection after the last bytes of the response have been written.
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      }
      return;
    }
    if (message instanceof RequestRecord received) {
      isUsed = true;
      received.recordHeaders();
      // The Accept header is removed, because each path produces only one media type. If the Accept
      // header named a different media type, the framework would respond with status 401.
      received.headers().remove(HttpHeaderNames.ACCEPT);
      request = received;
      connection.headersReceived(hasBody(received));
    } else if (message instanceof LastHttpContent) {
      connection.requestReceived();
    }
    if (!context.channel().isActive()) { // the client has disconnected
      ReferenceCountUtil.release(message);
    } else if (message instanceof HttpContent part) {
      body.pass(context, part);
    } else {
      context.fireChannelRead(message);
    }
  }

  private static boolean hasBody(RequestRecord request) {
    return request.decoderResult().isSuccess()
        && (HttpUtil.getContentLength(request, 0L) > 0
            || HttpUtil.isTransferEncodingChunked(request));
  }

  /**
   * Delays the read-complete event until a small body is complete, because this event makes the
   * framework start processing the request. Otherwise, incomplete requests could make the service
   * start work that it must then abandon.
   */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    RequestRecord received = request;
    if (received != null
        && connection.isReceiving()
        && body.isSmall()
        && !HttpUtil.is100ContinueExpected(received)) {
      context.read();
    } else {
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    RequestRecord answered = request;
    boolean isInterim = message instanceof HttpResponse part && part.status().code() < 200;
    if (answered == null || isInterim) {
      context.write(message, promise);
      return;
    }
    if (message instanceof HttpResponse response) {
      isLastResponse =
          connection.isReceiving()
              || answered.decoderResult().isFailure()
              || !HttpUtil.isKeepAlive(answered)
              || !HttpUtil.isKeepAlive(response)
              || isDraining.getAsBoolean();
      if (isLastResponse) {
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
      completeHeaders(response.headers(), answered);
    }
    answered.recordResponse(message);
    if (message instanceof LastHttpContent) {
      request = null;
      context.write(message, end(promise));
      ended.accept(answered);
    } else {
      context.write(message, promise);
    }
  }

  @SuppressWarnings("JavaUtilDate") // Netty's headers accept no Instant
  private void completeHeaders(HttpHeaders response, RequestRecord answered) {
    if (!response.contains(HttpHeaderNames.DATE)) {
      response.set(HttpHeaderNames.DATE, new Date()); // RFC 9110, section 6.6.1
    }
    response.set(RequestRecord.REQUEST_ID, answered.requestId()).set(TYPE_OPTIONS, NOSNIFF);
    if (!response.contains(HttpHeaderNames.CACHE_CONTROL)) {
      response.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
    origins.set(response, answered);
  }

  private ChannelPromise end(ChannelPromise promise) {
    ChannelPromise written = body.releaseAfter(promise);
    if (!isLastResponse) {
      connection.responseEnded();
      return written;
    }
    connection.lastResponseEnded();
    return written.unvoid().addListener(ChannelFutureListener.CLOSE);
  }

  /**
   * Closes the connection, or only its output if the rest of a request body must still be read and
   * discarded. During a graceful shutdown, waits before closing an unused connection, because its
   * client may already have sent a request.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (isDraining.getAsBoolean() && (!isUsed || connection.isReceiving())) {
      Future<?> end =
          context.executor().schedule(() -> closeIfUnused(context), LAST_REQUEST_SECONDS, SECONDS);
      ChannelFuture closed = context.channel().closeFuture();
      closed.addListener(done -> promise.trySuccess());
      closed.addListener(done -> end.cancel(false)); // so that the request can be reclaimed
    } else if (!connection.isDiscarding()) {
      context.close(promise);
    } else if (tls != null) {
      tls.closeOutbound(promise);
    } else {
      ((DuplexChannel) context.channel()).shutdownOutput(promise);
    }
  }

  private void closeIfUnused(ChannelHandlerContext context) {
    if (request == null) {
      context.close();
    }
  }

  /** Closes the connection if the client has reset it or if a handler has thrown an exception. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    LOG.debug("Closing a connection because of an exception", failure);
    connection.closeAtOnce();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    RequestRecord unanswered = request;
    if (unanswered != null) {
      ended.accept(unanswered);
    }
    body.release();
  }
}
