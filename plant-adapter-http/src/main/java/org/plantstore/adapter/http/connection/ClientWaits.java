package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.SlowClients.Wait;

/**
 * Notes when a connection begins and ends to wait for its client: for the rest of a request, or for
 * more of its answers to be read than a connection keeps. One per connection, in front of all other
 * handlers; used by its event loop alone.
 */
final class ClientWaits extends ChannelDuplexHandler {

  private final SlowClients slowClients;
  private final @Nullable TlsHandler tls;
  private final RequestDecoder decoder;
  private final ConnectionHandler handler;
  private @Nullable Wait wait;
  private long sinceNanos;

  ClientWaits(
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
    settle(context);
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    context.flush();
    settle(context);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    settle(context);
    context.fireChannelWritabilityChanged();
  }

  private void settle(ChannelHandlerContext context) {
    change(context, context.channel().isWritable() ? awaited() : Wait.READER);
  }

  private @Nullable Wait awaited() {
    if (tls != null && !tls.handshakeFuture().isDone()) {
      return Wait.TLS;
    }
    Wait awaited = handler.input().awaited(decoder.isLineBegun());
    return awaited == null && tls != null && tls.isRecordBegun() ? Wait.TLS : awaited;
  }

  /** A change between handshake, head and body does not start the time anew. */
  private void change(ChannelHandlerContext context, @Nullable Wait next) {
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

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    change(context, null);
    context.fireChannelInactive();
  }
}
