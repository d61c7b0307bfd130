package org.plantstore.adapter.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose client takes too long to send one request as a whole, or to take what
 * it is answered: a slow client would otherwise hold its connection, and what was read, for as long
 * as it likes. Between requests it does nothing. One per connection, used by its event loop alone.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class ConnectionDeadline extends ChannelDuplexHandler {

  private final long timeoutNanos;
  private final HeadMemory headMemory;

  private boolean receiving;
  private long receivingSince;
  private boolean stuck;
  private long stuckSince;
  private @Nullable Future<?> check;

  /**
   * Makes the handler of a connection.
   *
   * @param timeout how long a request may take from its first byte to its last, and how long the
   *     client may take to read what it was answered
   * @param headMemory what knows of heads that are being received
   */
  ConnectionDeadline(Duration timeout, HeadMemory headMemory) {
    this.timeoutNanos = timeout.toNanos();
    this.headMemory = headMemory;
  }

  private void requestBegun() {
    if (!receiving) {
      receiving = true;
      receivingSince = System.nanoTime();
    }
  }

  /** Says that the request that was being received is there as a whole. */
  void requestReceived() {
    receiving = false;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    int received = bytes.readableBytes();
    requestBegun();
    ensureCheck(context);
    bytes.retain();
    try {
      context.fireChannelRead(bytes);
      if (bytes.isReadable() || headMemory.isHeadBegun()) {
        requestBegun(); // perhaps behind the end of another
      }
      // The decoder has kept a part of a line, and the buffer with it, or copied it to another.
      int kept = bytes.isReadable() ? bytes.capacity() : received;
      if (receiving && !headMemory.takeLine(kept)) {
        context.close();
      }
    } finally {
      bytes.release();
    }
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    context.flush();
    awaitReader(context);
  }

  /** Waits, unless it does, until the client has taken all that was written so far. */
  private void awaitReader(ChannelHandlerContext context) {
    if (stuck || !hasUnread(context.channel())) {
      return;
    }
    stuck = true;
    stuckSince = System.nanoTime();
    ensureCheck(context);
    context
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(taken -> {
          stuck = false;
          // Later, because what is just being taken still counts as unread.
          context.executor().execute(() -> awaitReader(context));
        });
  }

  private static boolean hasUnread(Channel channel) {
    return channel.isActive()
        && channel.bytesBeforeUnwritable() <= channel.config().getWriteBufferHighWaterMark();
  }

  /** One check is planned for many requests: to plan and to cancel one for each costs too much. */
  private void ensureCheck(ChannelHandlerContext context) {
    if (check == null) {
      plan(context, timeoutNanos);
    }
  }

  private void plan(ChannelHandlerContext context, long delayNanos) {
    check = context.executor().schedule(() -> check(context), delayNanos, TimeUnit.NANOSECONDS);
  }

  private void check(ChannelHandlerContext context) {
    check = null;
    long now = System.nanoTime();
    long waitedNanos = Math.max(receiving ? now - receivingSince : 0, stuck ? now - stuckSince : 0);
    if (waitedNanos >= timeoutNanos) {
      context.close();
    } else if (receiving || stuck) {
      plan(context, timeoutNanos - waitedNanos);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (check != null) {
      check.cancel(false);
      check = null;
    }
  }
}
