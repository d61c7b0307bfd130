package org.plantstore.adapter.http.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.SlowClients.Wait;

/**
 * Notes when a connection begins and ends to wait for its client: for the rest of a request, or for
 * its answers to be read. One per connection, in front of the decoder; used by its event loop
 * alone.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class ClientTimeout extends ChannelDuplexHandler {

  private final SlowClients slowClients;
  private final RequestDecoder decoder;
  private final ConnectionHandler handler;
  private @Nullable Wait wait;
  private long sinceNanos;

  ClientTimeout(SlowClients slowClients, RequestDecoder decoder, ConnectionHandler handler) {
    this.slowClients = slowClients;
    this.decoder = decoder;
    this.handler = handler;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    context.fireChannelRead(message);
    if (wait != Wait.READER) {
      settle(context.channel());
    }
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    context.flush();
    if (wait != Wait.READER) {
      awaitReader(context);
    }
  }

  /** Waits, if necessary, until the client has taken all that was written so far. */
  private void awaitReader(ChannelHandlerContext context) {
    if (!isUnread(context.channel())) {
      settle(context.channel());
      return;
    }
    change(context.channel(), Wait.READER);
    context
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(taken -> {
          change(context.channel(), null);
          awaitReader(context);
        });
  }

  private static boolean isUnread(Channel channel) {
    ChannelOutboundBuffer written = channel.unsafe().outboundBuffer();
    return written != null && !written.isEmpty();
  }

  private void settle(Channel channel) {
    change(channel, handler.input().awaited(decoder.isLineBegun()));
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
