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
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.plantstore.adapter.http.connection.CurrentRequest.Part;
import org.plantstore.adapter.http.connection.TlsContexts.TlsHandler;

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

  private final CurrentRequest current;
  private final BooleanSupplier isDraining;
  private boolean isNew = true; // until its first request
  private long droppedBytes;

  ConnectionEnd(CurrentRequest current, BooleanSupplier isDraining) {
    this.current = current;
    this.isDraining = isDraining;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    isNew = false;
    if (current.next() == Part.REFUSED_BODY) {
      drop(context, (HttpContent) message);
    } else if (current.next() == Part.END) {
      // Also the end of a request without a body, which the framework has started at the head.
      ReferenceCountUtil.release(message);
    } else {
      context.fireChannelRead(message);
    }
  }

  private void drop(ChannelHandlerContext context, HttpContent part) {
    droppedBytes += part.content().readableBytes();
    if (part instanceof LastHttpContent || droppedBytes > MAX_DROPPED_BYTES) {
      current.end();
      if (current.exchange() == null) { // closes behind the last bytes of the answer
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      }
    }
    part.release();
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    ChannelPromise written = promise;
    HttpResponse head = CurrentRequest.finalHead(message);
    if (head != null) {
      if (current.next() == Part.BODY) {
        current.refuseBody(false);
      } else if (current.next() == Part.HEAD && isDraining.getAsBoolean()) {
        current.end();
      }
      if (current.next() != Part.HEAD) {
        head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
    }
    if (CurrentRequest.isLastPart(message) && current.next() != Part.HEAD) {
      written = promise.unvoid().addListener(ChannelFutureListener.CLOSE);
    }
    context.write(message, written);
  }

  /**
   * Closes only the output while the client may be sending a refused body. During the drain, a new
   * connection is closed only if no request arrives in time.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    TlsHandler tls = context.pipeline().get(TlsHandler.class);
    if (isNew && isDraining.getAsBoolean()) {
      context.channel().closeFuture().addListener(closed -> promise.trySuccess());
      Callable<?> closeIfUnused = () -> isNew ? context.close() : null;
      context.executor().schedule(closeIfUnused, FIRST_REQUEST_SECONDS, SECONDS);
    } else if (current.next() != Part.REFUSED_BODY) {
      context.close(promise);
    } else if (tls != null) {
      tls.closeOutbound(promise);
    } else {
      ((DuplexChannel) context.channel()).shutdownOutput(promise);
    }
  }
}
