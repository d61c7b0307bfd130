package org.plantstore.adapter.http.connection;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.observe.RequestRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last handler before the framework: passes requests to it and responses from it, records both,
 * and closes the connection after a response that must be the last one. Used only by the event loop
 * of the connection.
 */
final class RequestFlow extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(RequestFlow.class);

  /** How long the drain waits for a request whose client cannot know about the drain. */
  private static final long LAST_REQUEST_SECONDS = 5;

  private final Connection connection;
  private final BodyMemory body;
  private final BooleanSupplier isDraining;
  private final AllowedOrigins origins;
  private final Consumer<RequestRecord> ended;
  private @Nullable DecodedRequest request; // until its response is complete
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
        // Closes after the last bytes of the response.
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      }
      return;
    }
    if (message instanceof DecodedRequest head) {
      isUsed = true;
      head.begin();
      request = head;
      connection.headReceived(head.hasBody());
    } else if (message instanceof LastHttpContent) {
      connection.requestReceived();
    }
    if (!context.channel().isActive()) { // the client has left within the head
      ReferenceCountUtil.release(message);
    } else if (message instanceof HttpContent part) {
      body.pass(context, part);
    } else {
      context.fireChannelRead(message);
    }
  }

  /**
   * Waits for a small body before the framework starts the request, which it does when a read is
   * complete. Otherwise a client could cheaply make the service start and abandon work.
   */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    DecodedRequest head = request;
    if (head != null
        && connection.isReceiving()
        && body.isSmall()
        && !HttpUtil.is100ContinueExpected(head)) {
      context.read();
    } else {
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    DecodedRequest answered = request;
    if (answered == null || isInterim(message)) {
      context.write(message, promise);
      return;
    }
    if (message instanceof HttpResponse head) {
      isLastResponse =
          connection.isReceiving()
              || !HttpUtil.isKeepAlive(answered)
              || !HttpUtil.isKeepAlive(head)
              || isDraining.getAsBoolean();
      if (isLastResponse) {
        head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
      answered.completeHeaders(head.headers(), origins);
    }
    answered.record().recordAnswer(message);
    if (message instanceof LastHttpContent) {
      request = null;
      context.write(message, end(promise));
      ended.accept(answered.record());
    } else {
      context.write(message, promise);
    }
  }

  private static boolean isInterim(Object message) {
    return message instanceof HttpResponse head
        && head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
  }

  private ChannelPromise end(ChannelPromise promise) {
    ChannelPromise written = body.releaseAfter(promise);
    if (!isLastResponse) {
      connection.answered();
      return written;
    }
    connection.answeredLast();
    return written.unvoid().addListener(ChannelFutureListener.CLOSE);
  }

  /**
   * Closes only the output while the rest of a body is discarded. During the drain, first waits for
   * a request that the client may have sent because it cannot know about the drain.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (isDraining.getAsBoolean() && (!isUsed || connection.isReceiving())) {
      context.channel().closeFuture().addListener(closed -> promise.trySuccess());
      context.executor().schedule(() -> closeIfUnused(context), LAST_REQUEST_SECONDS, SECONDS);
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

  /** Closes a connection that the client has reset, or on which a handler has failed. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    LOG.debug("A connection is closed", failure);
    connection.closeAtOnce();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    DecodedRequest unanswered = request;
    if (unanswered != null) {
      ended.accept(unanswered.record());
    }
    body.release();
  }
}
