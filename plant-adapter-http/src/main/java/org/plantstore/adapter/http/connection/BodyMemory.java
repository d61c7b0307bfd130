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
 * Tracks the memory that a connection's request body occupies. A body requires one permit for each
 * byte beyond {@link #PERMIT_FREE_BYTES}, and its permits are released when the response has been
 * written. If too few permits are available, the request is rejected with error 5003. Small parts
 * of a body are joined, because each part requires its own buffer and several objects. Used only by
 * the connection's event loop.
 */
final class BodyMemory {

  /** The maximum size, in bytes, of a body that requires no permits. Most bodies are smaller. */
  static final int PERMIT_FREE_BYTES = 4 * 1024;

  /** The size, in bytes, below which a part of a body is joined with other parts. */
  private static final int SMALL_PART_BYTES = 4 * 1024;

  private final Semaphore availableBytes;
  private int bodyBytes;
  private boolean isRejected;
  private ByteBuf joined = Unpooled.EMPTY_BUFFER;

  BodyMemory(Semaphore availableBytes) {
    this.availableBytes = availableBytes;
  }

  /** Returns whether the body, as received so far, is small enough to need no permits. */
  boolean isSmall() {
    return bodyBytes <= PERMIT_FREE_BYTES;
  }

  /**
   * Passes a part of the body to the framework. A small part is kept and passed on later, together
   * with the parts that follow it. If the body has been rejected, its remaining parts are dropped.
   */
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
    if (isRejected) {
      return false;
    }
    if (permits > 0 && !availableBytes.tryAcquire(permits)) {
      isRejected = true;
      // Makes the framework respond with error 5003. This call can write the response and thereby
      // reset isRejected, so isRejected is set before the call.
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
      return false;
    }
    bodyBytes += partBytes;
    return true;
  }

  /** Joins small parts until the result is no longer small, and passes on other parts unchanged. */
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
    return Math.max(bytes - PERMIT_FREE_BYTES, 0);
  }

  /** Marks the body as complete, and releases its permits once the response is written. */
  ChannelPromise releaseAfter(ChannelPromise written) {
    int taken = permits(bodyBytes);
    reset();
    return taken == 0
        ? written
        : written.unvoid().addListener(done -> availableBytes.release(taken));
  }

  /**
   * Stops tracking a body whose request will get no response, and releases its permits immediately.
   */
  void release() {
    availableBytes.release(permits(bodyBytes));
    reset();
  }

  private void reset() {
    bodyBytes = 0;
    isRejected = false;
    joined.release(); // has no effect on the empty buffer
    joined = Unpooled.EMPTY_BUFFER;
  }
}
