package org.plantstore.adapter.http.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.ssl.SslHandler;
import org.jspecify.annotations.Nullable;

/**
 * What a connection waits for, since when, and how many bytes its unfinished request holds. Stands
 * first, in front of TLS. One per connection, used by its event loop only.
 */
final class RequestTimeout extends ChannelDuplexHandler {

  private enum Wait {
    /** The service; its own time-outs end that. */
    ANSWER,
    NEXT_REQUEST,
    /** The rest of a request, or of a handshake. */
    REST,
    /** The reading of an answer. */
    READER
  }

  /** The objects of a request, and the bytes of its body that {@link BodyMemory} does not count. */
  private static final int BYTES_PER_REQUEST = 4 * 1024;

  private final Channel connection;
  private final @Nullable SslHandler tls;
  private final RequestSequence sequence;
  private final SlowClients slowClients;
  private Wait lastWait = Wait.ANSWER;
  private int lastAnswers;
  private long lastUnreadBytes;
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
  public void handlerAdded(ChannelHandlerContext context) {
    slowClients.add(this);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    slowClients.remove(this);
  }

  /** Called after all input, and when a pipelined request begins. */
  @Override
  public void read(ChannelHandlerContext context) {
    context.read();
    hold();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    hold();
    context.fireChannelWritabilityChanged();
  }

  private void hold() {
    Wait wait = currentWait();
    boolean isHeld = connection.isActive() && (wait == Wait.REST || wait == Wait.READER);
    slowClients.hold(this, isHeld ? BYTES_PER_REQUEST + sequence.decoder().heldBytes() : 0);
  }

  private Wait currentWait() {
    if (!connection.isWritable()) {
      return Wait.READER;
    }
    if (sequence.isUnfinished() || (tls != null && !tls.handshakeFuture().isDone())) {
      return Wait.REST;
    }
    return sequence.isDecoded() ? Wait.NEXT_REQUEST : Wait.ANSWER;
  }

  /**
   * Closes the connection if it has waited for the same since enough calls of this method. The time
   * of a request includes its body; that of an answer starts again when the client reads.
   */
  void closeIfOver(long requestNanos, long idleNanos) {
    Wait wait = currentWait();
    int answers = sequence.answers();
    long unreadBytes = unreadBytes();
    if (wait != lastWait
        || answers != lastAnswers
        || (wait == Wait.READER && unreadBytes < lastUnreadBytes)) {
      sinceNanos = System.nanoTime();
    } else if (wait != Wait.ANSWER
        && System.nanoTime() - sinceNanos
            >= (wait == Wait.NEXT_REQUEST ? idleNanos : requestNanos)) {
      close();
    }
    lastWait = wait;
    lastAnswers = answers;
    lastUnreadBytes = unreadBytes;
  }

  private long unreadBytes() {
    ChannelOutboundBuffer output = connection.unsafe().outboundBuffer();
    return output == null ? 0 : output.totalPendingWriteBytes() - output.currentProgress();
  }

  /** Closes the connection past its other handlers, which would wait. */
  void close() {
    connection.pipeline().firstContext().close();
  }
}
