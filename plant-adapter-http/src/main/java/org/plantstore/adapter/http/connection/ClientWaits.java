package org.plantstore.adapter.http.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.SlowClients.Wait;

/**
 * Notes when a connection begins and ends to wait for its client: for the rest of a request, or for
 * more of its answers to be read than a connection keeps. One per connection, in front of the
 * decoder; used by its event loop alone.
 */
final class ClientWaits extends ChannelDuplexHandler {

  private final SlowClients slowClients;
  private final RequestDecoder decoder;
  private final ConnectionHandler handler;
  private @Nullable Wait wait;
  private long sinceNanos;

  ClientWaits(SlowClients slowClients, RequestDecoder decoder, ConnectionHandler handler) {
    this.slowClients = slowClients;
    this.decoder = decoder;
    this.handler = handler;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    context.fireChannelRead(message);
    settle(context.channel());
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    context.flush();
    settle(context.channel());
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    settle(context.channel());
    context.fireChannelWritabilityChanged();
  }

  private void settle(Channel channel) {
    change(
        channel,
        channel.isWritable() ? handler.input().awaited(decoder.isLineBegun()) : Wait.READER);
  }

  /** A change between head and body does not start the time anew. */
  private void change(Channel channel, @Nullable Wait next) {
    if (wait == next) {
      return;
    }
    if (wait != null) {
      slowClients.remove(channel, wait);
    }
    if (wait == null || wait == Wait.READER || next == Wait.READER) {
      sinceNanos = System.nanoTime();
    }
    wait = next;
    if (next != null && channel.isActive()) {
      slowClients.add(channel, next, sinceNanos);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    change(context.channel(), null);
    context.fireChannelInactive();
  }
}
