package org.plantstore.adapter.http.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * Tells {@link SlowClients} when its connection begins and ends to wait for its client: for the
 * rest of a request or of a handshake, or for the reading of an answer. Stands first, in front of
 * TLS. One per connection, used by its event loop only.
 */
final class RequestTimeout extends ChannelDuplexHandler {

  /** The objects of a request, and the bytes of its body that {@link BodyMemory} does not count. */
  private static final int BYTES_PER_REQUEST = 4 * 1024;

  private final Channel connection;
  private final @Nullable SslHandler tls;
  private final RequestSequence sequence;
  private final SlowClients slowClients;
  private boolean isWaiting;
  private boolean isUnread;
  private long unreadBytes;
  private long sinceNanos;

  RequestTimeout(
      Channel connection,
      @Nullable SslHandler tls,
      RequestSequence sequence,
      SlowClients slowClients) {
    this.connection = connection;
    this.tls = tls;
    this.sequence = sequence;
    this.slowClients = slowClients;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (slowClients.isReleasing()) {
      slowClients.delay(() -> receive(context, message));
    } else {
      receive(context, message);
    }
  }

  private void receive(ChannelHandlerContext context, Object message) {
    if (connection.isActive()) {
      context.fireChannelRead(message);
      update();
    } else {
      ReferenceCountUtil.release(message);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (slowClients.isReleasing()) {
      slowClients.delay(context::fireChannelReadComplete);
    } else {
      context.fireChannelReadComplete();
    }
  }

  /** Looks again what the connection waits for: a pipelined request can begin without input. */
  @Override
  public void read(ChannelHandlerContext context) {
    context.read();
    update();
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    context.flush();
    update();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    update();
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    context.fireChannelInactive();
    isWaiting = false;
    slowClients.release(this);
  }

  /** The time-out of a request starts at its first byte, and includes its body. */
  private void update() {
    boolean wasUnread = isUnread;
    isUnread = !connection.isWritable();
    boolean isUnfinished =
        sequence.isUnfinished() || (tls != null && !tls.handshakeFuture().isDone());
    boolean isWaitingNow = connection.isActive() && (isUnread || isUnfinished);
    if (isWaiting && (!isWaitingNow || isUnread != wasUnread)) {
      isWaiting = false; // first, because delayed input may follow
      slowClients.end(this);
    }
    if (isWaitingNow) {
      if (!isWaiting) {
        isWaiting = true;
        unreadBytes = unreadBytes();
        sinceNanos = System.nanoTime();
      }
      slowClients.hold(this, BYTES_PER_REQUEST + sequence.decoder().heldBytes());
    }
  }

  /** Returns whether the client has read a part of an answer since the last call. */
  boolean hasRead() {
    long lastBytes = unreadBytes;
    unreadBytes = unreadBytes();
    return isUnread && unreadBytes < lastBytes;
  }

  private long unreadBytes() {
    ChannelOutboundBuffer output = connection.unsafe().outboundBuffer();
    return output == null ? 0 : output.totalPendingWriteBytes() - output.currentProgress();
  }

  void restart() {
    sinceNanos = System.nanoTime();
  }

  boolean isOlderThan(long nanos) {
    return System.nanoTime() - sinceNanos >= nanos;
  }

  /** Closes the connection past its other handlers, which would wait. */
  void close() {
    connection.pipeline().firstContext().close();
  }
}
