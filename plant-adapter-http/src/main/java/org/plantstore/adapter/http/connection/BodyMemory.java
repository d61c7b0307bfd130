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
 * Accounts for the memory of the body that a connection is receiving. A body takes one permit for
 * each byte beyond {@link #FREE_BYTES}, and returns its permits when its response has been written.
 * If there are not enough permits, the request is refused with 5003. Small parts of a body are
 * joined, because each part occupies a buffer and several objects. Used only by the event loop of
 * the connection.
 */
final class BodyMemory {

  /** The number of bytes of each body that need no permits. Most bodies are smaller. */
  static final int FREE_BYTES = 4 * 1024;

  /** Parts of a body that are smaller are joined. */
  private static final int SMALL_PART_BYTES = 4 * 1024;

  private final Semaphore availableBytes;
  private int bodyBytes;
  private boolean isRefused;
  private ByteBuf joined = Unpooled.EMPTY_BUFFER;

  BodyMemory(Semaphore availableBytes) {
    this.availableBytes = availableBytes;
  }

  /** Returns whether the bytes received so far needed no permits. */
  boolean isSmall() {
    return bodyBytes <= FREE_BYTES;
  }

  /**
   * Passes a part of the body to the framework. A small part is passed on later, together with
   * other parts. The rest of a refused body is dropped.
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
    if (isRefused) {
      return false;
    }
    if (permits > 0 && !availableBytes.tryAcquire(permits)) {
      isRefused = true;
      // Makes the framework respond with 5003. The framework may write the response during this
      // call, which ends the body.
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
      return false;
    }
    bodyBytes += partBytes;
    return true;
  }

  /** Joins small parts until the result is large, and passes on every other part unchanged. */
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

  /** Ends the body, and releases its permits when the returned promise completes. */
  ChannelPromise releaseAfter(ChannelPromise written) {
    int taken = permits(bodyBytes);
    reset();
    return taken == 0
        ? written
        : written.unvoid().addListener(done -> availableBytes.release(taken));
  }

  /** Ends a body whose response will not be written, and releases its permits. */
  void release() {
    availableBytes.release(permits(bodyBytes));
    reset();
  }

  private void reset() {
    bodyBytes = 0;
    isRefused = false;
    joined.release(); // does nothing if the buffer is the empty one
    joined = Unpooled.EMPTY_BUFFER;
  }
}
