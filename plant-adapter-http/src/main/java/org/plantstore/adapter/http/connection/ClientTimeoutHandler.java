package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.SlowClients.Wait;

/**
 * Determines whether a connection waits for its client, since when, and how much memory it holds.
 * One per connection, in front of all other handlers; used by its event loop only.
 */
final class ClientTimeoutHandler extends ChannelDuplexHandler {

  private final SlowClients slowClients;
  private final @Nullable TlsHandler tls;
  private final RequestDecoder decoder;
  private final ConnectionHandler handler;
  private @Nullable Wait wait;
  private long sinceNanos;

  ClientTimeoutHandler(
      SlowClients slowClients,
      @Nullable TlsHandler tls,
      RequestDecoder decoder,
      ConnectionHandler handler) {
    this.slowClients = slowClients;
    this.tls = tls;
    this.decoder = decoder;
    this.handler = handler;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    context.fireChannelRead(message);
    update(context, currentWait(context));
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    context.flush();
    update(context, currentWait(context));
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    update(context, currentWait(context));
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    update(context, null);
    context.fireChannelInactive();
  }

  /** Returns the kind of the wait, or null if the connection is idle, is served, or ends. */
  private @Nullable Wait currentWait(ChannelHandlerContext context) {
    ReadState state = handler.state();
    // A connection whose output is closed is not writable either.
    if (state != ReadState.REFUSED_BODY && !context.channel().isWritable()) {
      return Wait.READER;
    } else if (tls != null && !tls.handshakeFuture().isDone()) {
      return Wait.TLS;
    } else if (state != ReadState.END && decoder.isLineBegun()) {
      return Wait.HEAD;
    } else if (state == ReadState.BODY || state == ReadState.REFUSED_BODY) {
      return Wait.BODY;
    }
    return tls != null && tls.isRecordBegun() ? Wait.TLS : null;
  }

  /** A change between handshake, head and body does not restart the time-out. */
  private void update(ChannelHandlerContext context, @Nullable Wait next) {
    if (wait == next) {
      return;
    }
    if (wait != null) {
      slowClients.remove(context, wait);
    }
    if (wait == null || wait == Wait.READER || next == Wait.READER) {
      sinceNanos = System.nanoTime();
    }
    wait = next;
    if (next != null && context.channel().isActive()) {
      slowClients.add(context, next, sinceNanos);
    }
  }
}
