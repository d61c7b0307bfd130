package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.Semaphore;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/**
 * The memory of the body that a connection is receiving. A body takes permits for its bytes until
 * its response is written, and the framework refuses it if there are none. Small parts are joined,
 * because they would take many times their bytes. Used only by the event loop of the connection.
 */
final class BodyMemory {

  /** The first bytes of each body need no permits; most plants have no more. */
  static final int FREE_BYTES = 4 * 1024;

  /** Each smaller part would retain a buffer and several objects. */
  private static final int SMALL_PART_BYTES = 4 * 1024;

  private final Semaphore availableBytes;
  private int bodyBytes;
  private boolean isRefused;
  private ByteBuf joined = Unpooled.EMPTY_BUFFER;

  BodyMemory(Semaphore availableBytes) {
    this.availableBytes = availableBytes;
  }

  /** Returns whether the body, as far as it has been received, has taken no permits. */
  boolean isSmall() {
    return bodyBytes <= FREE_BYTES;
  }

  /** Passes a part of the body on to the framework, possibly later, or drops it. */
  void pass(ChannelHandlerContext context, HttpContent part) {
    if (take(context, part.content().readableBytes())) {
      join(context, part);
    } else {
      part.release();
      if (part instanceof LastHttpContent) {
        context.fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
      }
    }
  }

  private boolean take(ChannelHandlerContext context, int partBytes) {
    int permits = permits(bodyBytes + partBytes) - permits(bodyBytes);
    if (isRefused) {
      return false;
    }
    if (permits > 0 && !availableBytes.tryAcquire(permits)) {
      isRefused = true;
      // Fails the body that the framework collects, so that the response is 5003. The framework may
      // write it at once, which ends the body.
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
      return false;
    }
    bodyBytes += partBytes;
    return true;
  }

  /** Passes on a large part, the last one, or as many small ones as are large together. */
  private void join(ChannelHandlerContext context, HttpContent part) {
    boolean isSmall =
        part.content().readableBytes() < SMALL_PART_BYTES && !(part instanceof LastHttpContent);
    if (isSmall) {
      if (joined.capacity() == 0) {
        joined = context.alloc().buffer();
      }
      joined.writeBytes(part.content());
      part.release();
    }
    if (joined.isReadable() && (!isSmall || joined.readableBytes() >= SMALL_PART_BYTES)) {
      HttpContent parts = new DefaultHttpContent(joined);
      joined = Unpooled.EMPTY_BUFFER;
      context.fireChannelRead(parts);
    }
    if (!isSmall) {
      context.fireChannelRead(part);
    }
  }

  private static int permits(int bytes) {
    return Math.max(bytes - FREE_BYTES, 0);
  }

  /** Ends the body. Its permits are given back when the returned promise completes. */
  ChannelPromise releaseAfter(ChannelPromise written) {
    int taken = permits(bodyBytes);
    reset();
    return taken == 0
        ? written
        : written.unvoid().addListener(done -> availableBytes.release(taken));
  }

  /** Ends a body whose response will not be written. */
  void release() {
    availableBytes.release(permits(bodyBytes));
    reset();
  }

  private void reset() {
    bodyBytes = 0;
    isRefused = false;
    joined.release(); // has no effect on the empty buffer
    joined = Unpooled.EMPTY_BUFFER;
  }
}
