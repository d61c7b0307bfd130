package org.plantstore.adapter.http.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose client takes too long to send one request as a whole, or to take what
 * it is answered: a slow client would otherwise hold its connection, and what is kept meanwhile,
 * for as long as it likes. Nothing is read from a client that does not read, nor while what it has
 * sent has to wait. Between requests it does nothing. One per connection, used by its event loop
 * alone.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class ConnectionDeadline extends ChannelOutboundHandlerAdapter {

  /**
   * Once a client has left 8 KiB of its answers unread, none of its requests are read until it is
   * down to 4 KiB.
   */
  static final WriteBufferWaterMark UNREAD = new WriteBufferWaterMark(4 * 1024, 8 * 1024);

  /**
   * The most that is kept of unread answers, as a rule: up to {@link #UNREAD}, and an answer of
   * usual size. Larger ones are shared by all who read them, or counted elsewhere.
   */
  private static final long MAX_UNREAD_BYTES = 12 * 1024;

  private final long timeoutNanos;
  private final ClientMemory memory;

  private boolean receiving;
  private long receivingSince;
  private boolean paused;
  private boolean readWanted;
  private boolean stuck;
  private long stuckSince;
  private long keptBytes;
  private long unreadBytes;
  private boolean served;
  private long heldBytes;
  private boolean heldServed;
  private @Nullable ChannelHandlerContext context;
  private @Nullable Future<?> check;

  /**
   * Makes the handler of a connection.
   *
   * @param timeout how long a request may take from its first byte to its last, and how long the
   *     client may take to read what it was answered
   * @param memory what is told how much is kept meanwhile
   */
  ConnectionDeadline(Duration timeout, ClientMemory memory) {
    this.timeoutNanos = timeout.toNanos();
    this.memory = memory;
  }

  /** Says that a part of a request has come, and not all of it. */
  void requestBegun() {
    if (!receiving) {
      receiving = true;
      receivingSince = System.nanoTime();
      ensureCheck();
    }
  }

  /** Says that no request is being received any more. */
  void requestReceived() {
    receiving = false;
  }

  /** Says that what has come has to wait, for the client to read or for others to have a turn. */
  void pause() {
    paused = true;
    receiving = false;
  }

  /** Says that nothing has to wait any more. */
  void goOn() {
    paused = false;
    if (readWanted && context != null) {
      readWanted = false;
      read(context);
    }
  }

  /**
   * Says how much is kept of the request that is being received.
   *
   * @param isServed whether its answer is being worked on, because it has a valid token
   */
  void keep(long bytes, boolean isServed) {
    keptBytes = bytes;
    served = isServed;
    hold();
  }

  private void hold() {
    long bytes = keptBytes + unreadBytes;
    if (context != null && (bytes != heldBytes || (bytes > 0 && served != heldServed))) {
      heldBytes = bytes;
      heldServed = served;
      memory.hold(context, bytes, !served);
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  /** A client that does not read is not read from. */
  @Override
  public void read(ChannelHandlerContext reader) {
    if (paused || !reader.channel().isWritable()) {
      readWanted = true;
    } else {
      reader.read();
    }
  }

  @Override
  public void flush(ChannelHandlerContext flushed) {
    flushed.flush();
    awaitReader(flushed);
  }

  /** Waits, unless it does, until the client has taken all that was written so far. */
  private void awaitReader(ChannelHandlerContext reader) {
    unreadBytes = unreadBytes(reader.channel());
    hold();
    if (stuck || unreadBytes == 0) {
      return;
    }
    stuck = true;
    stuckSince = System.nanoTime();
    ensureCheck();
    reader
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(taken -> {
          stuck = false;
          // Later, because what is just being taken still counts as unread.
          reader.executor().execute(() -> awaitReader(reader));
        });
  }

  private static long unreadBytes(Channel channel) {
    if (!channel.isActive()) {
      return 0;
    }
    long moreBytes = channel.bytesBeforeUnwritable();
    return moreBytes == 0 ? MAX_UNREAD_BYTES : UNREAD.high() + 1 - moreBytes;
  }

  /** One check is planned for many requests: to plan and to cancel one for each costs too much. */
  private void ensureCheck() {
    if (check == null && context != null) {
      plan(context, timeoutNanos);
    }
  }

  private void plan(ChannelHandlerContext planned, long delayNanos) {
    check = planned.executor().schedule(() -> check(planned), delayNanos, TimeUnit.NANOSECONDS);
  }

  private void check(ChannelHandlerContext checked) {
    check = null;
    long now = System.nanoTime();
    long waitedNanos = Math.max(receiving ? now - receivingSince : 0, stuck ? now - stuckSince : 0);
    if (waitedNanos >= timeoutNanos) {
      checked.close();
    } else if (receiving || stuck) {
      plan(checked, timeoutNanos - waitedNanos);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext removed) {
    if (check != null) {
      check.cancel(false);
      check = null;
    }
    memory.hold(removed, 0, true);
    context = null;
  }
}
