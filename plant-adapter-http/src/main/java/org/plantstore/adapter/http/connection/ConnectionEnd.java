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
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

/**
 * Ends the connection after an answer to a malformed or incomplete request, to a request with
 * {@code Connection: close}, or during the drain, and drops what the client still sends. Stands
 * first behind decoder and encoder. One per connection, used by its event loop only.
 */
final class ConnectionEnd extends ChannelDuplexHandler {

  /** Bounds the rest of a refused body that is read: most clients send all before they read. */
  private static final long MAX_DROPPED_BYTES = 16 * 1024 * 1024;

  /** How long a new connection stays open for its first request during the drain. */
  private static final long FIRST_REQUEST_SECONDS = 5;

  private final BooleanSupplier isDraining;
  private boolean isNew = true; // until its first request
  private boolean isRead; // whether all of the last request is
  private boolean isLast; // whether the connection ends with the answer
  private boolean isAnswered;
  private long droppedBytes;

  ConnectionEnd(BooleanSupplier isDraining) {
    this.isDraining = isDraining;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (isLast && isAnswered) {
      drop(context, message);
      return;
    }
    if (message instanceof HttpRequest head) {
      isNew = false;
      isRead = !BodyMemory.hasBody(head);
      // As in the framework, keep-alive of HTTP/1.0 is ignored.
      isLast = !HttpUtil.isKeepAlive(head) || !head.protocolVersion().isKeepAliveDefault();
      isAnswered = false;
    }
    isRead |= message instanceof LastHttpContent;
    context.fireChannelRead(message);
  }

  private void drop(ChannelHandlerContext context, Object message) {
    if (!isRead && message instanceof HttpContent part) {
      droppedBytes += part.content().readableBytes();
      isRead = part instanceof LastHttpContent || droppedBytes > MAX_DROPPED_BYTES;
      if (isRead) { // closes behind the last bytes of the answer
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      }
    }
    ReferenceCountUtil.release(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (!RequestSequence.isInformational(message)) {
      if (message instanceof HttpResponse head) {
        isLast |= !isRead || !HttpUtil.isKeepAlive(head) || isDraining.getAsBoolean();
        if (isLast) {
          head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
      }
      isAnswered |= message instanceof LastHttpContent;
    }
    boolean isEnd = isLast && isAnswered;
    context.write(
        message, isEnd ? promise.unvoid().addListener(ChannelFutureListener.CLOSE) : promise);
  }

  /**
   * Closes only the output while the client may be sending a refused body, because closing a
   * connection with unread input resets it, and loses the answer (RFC 9112, section 9.6). During
   * the drain, a new connection is closed only if no request arrives in time.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (isNew && isDraining.getAsBoolean()) {
      context.channel().closeFuture().addListener(closed -> promise.trySuccess());
      Callable<?> closeIfUnused = () -> isNew ? context.close() : null;
      context.executor().schedule(closeIfUnused, FIRST_REQUEST_SECONDS, SECONDS);
    } else if (isNew || isRead || !isAnswered) {
      context.close(promise);
    } else if (tls != null) {
      tls.closeOutbound(promise);
    } else {
      ((DuplexChannel) context.channel()).shutdownOutput(promise);
    }
  }
}
