package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.CurrentRequest.Part;
import org.plantstore.adapter.http.connection.SlowClients.Kind;
import org.plantstore.adapter.http.connection.SlowClients.Wait;
import org.plantstore.adapter.http.connection.TlsContexts.TlsHandler;

/**
 * Tells {@link SlowClients} when its connection begins and ends to wait for its client. Stands
 * first, in front of TLS. One per connection, used by its event loop only.
 */
final class ClientWaits extends ChannelDuplexHandler {

  private final SlowClients slowClients;
  private final @Nullable TlsHandler tls;
  private final RequestDecoder decoder;
  private final CurrentRequest current;
  private @Nullable Wait wait;

  ClientWaits(
      SlowClients slowClients,
      @Nullable TlsHandler tls,
      RequestDecoder decoder,
      CurrentRequest current) {
    this.slowClients = slowClients;
    this.tls = tls;
    this.decoder = decoder;
    this.current = current;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    slowClients.whenReleased(() -> receive(context, message));
  }

  private void receive(ChannelHandlerContext context, Object message) {
    if (context.channel().isActive()) {
      context.fireChannelRead(message);
      update(context);
    } else {
      ReferenceCountUtil.release(message);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    slowClients.whenReleased(context::fireChannelReadComplete);
  }

  /** Looks again what the connection waits for: a pipelined request can begin without input. */
  @Override
  public void read(ChannelHandlerContext context) {
    context.read();
    update(context);
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    context.flush();
    update(context);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    update(context);
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    context.fireChannelInactive();
    update(context);
  }

  /** Returns the kind of the wait, or null if the connection is idle, is served, or ends. */
  private @Nullable Kind currentKind(ChannelHandlerContext context) {
    // In this order, because unread answers stop the reading, and a handshake the decoding.
    Part next = current.next();
    if (!context.channel().isActive()) {
      return null;
    } else if (next != Part.REFUSED_BODY && !context.channel().isWritable()) {
      // The output of a connection with a refused body may be closed, and so not writable.
      return Kind.ANSWER;
    } else if (tls != null && !tls.handshakeFuture().isDone()) {
      return Kind.TLS;
    } else if (decoder.isPaused()) {
      return null;
    } else if (next != Part.END && decoder.isLineBegun()) {
      return Kind.HEAD;
    } else if (next == Part.REFUSED_BODY) {
      return Kind.REFUSED_BODY;
    } else if (next == Part.BODY) {
      return Kind.BODY;
    }
    return tls != null && tls.isRecordBegun() ? Kind.TLS : null;
  }

  /** The time-out of a request starts at its first byte, and includes its body. */
  private void update(ChannelHandlerContext context) {
    Wait last = wait;
    Kind next = currentKind(context);
    if (last != null && last.kind() != next) {
      wait = null; // first, because delayed input may follow
      slowClients.end(last);
    }
    if (next != null && wait == null) {
      long sinceNanos =
          last == null || last.kind() == Kind.ANSWER || next == Kind.ANSWER
              ? System.nanoTime()
              : last.sinceNanos();
      wait = new Wait(context, next, decoder.headBytes(), sinceNanos);
      slowClients.begin(wait);
    }
  }
}
