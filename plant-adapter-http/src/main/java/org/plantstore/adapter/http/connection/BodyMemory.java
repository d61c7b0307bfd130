package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.Semaphore;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the memory of bodies: takes permits for their bytes, gives them back when the answer is
 * written, and lets the framework refuse a body for which there are none. Joins small parts, which
 * would take many times their bytes. Awaits small bodies before the framework starts their
 * requests. Closes the connection if a handler fails. Stands in front of the framework. One per
 * connection, used by its event loop only.
 */
final class BodyMemory extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(BodyMemory.class);

  /** The first bytes of each body, which are not counted; most plants have no more. */
  private static final int UNCOUNTED_BYTES = 4 * 1024;

  /** Smaller parts are joined, because each would retain a buffer and several objects. */
  private static final int SMALL_PART_BYTES = 4 * 1024;

  private final RequestSequence sequence;
  private final Semaphore availableBytes;
  private boolean isRefused;
  private int heldBytes;
  private ByteBuf joined = Unpooled.EMPTY_BUFFER; // parts that the framework does not have yet

  /** Creates a handler that takes permits, one for each byte. */
  BodyMemory(RequestSequence sequence, Semaphore availableBytes) {
    this.sequence = sequence;
    this.availableBytes = availableBytes;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof HttpContent part)) {
      context.fireChannelRead(message);
    } else if (take(context, part)) {
      join(context, part);
    } else {
      part.release();
      if (part instanceof LastHttpContent) {
        context.fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
      }
    }
  }

  private boolean take(ChannelHandlerContext context, HttpContent part) {
    int bytes = heldBytes + part.content().readableBytes();
    int moreBytes = countedBytes(bytes) - countedBytes(heldBytes);
    if (isRefused || (moreBytes > 0 && !availableBytes.tryAcquire(moreBytes))) {
      if (!isRefused) {
        isRefused = true;
        // Fails the body that the framework collects, so that the answer is 5003.
        context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
      }
      return false;
    }
    heldBytes = bytes;
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

  private void discardJoined() {
    joined.release(); // has no effect on the empty buffer
    joined = Unpooled.EMPTY_BUFFER;
  }

  private static int countedBytes(int bytes) {
    return Math.max(bytes - UNCOUNTED_BYTES, 0);
  }

  /**
   * Waits for a small body before the framework starts the request, which it does when a read is
   * complete. Otherwise a client could cheaply make the service start and abandon work.
   */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (sequence.isBodyAwaited() && heldBytes <= UNCOUNTED_BYTES) {
      context.read();
    } else {
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    ChannelPromise written = promise;
    int takenBytes = countedBytes(heldBytes);
    if (message instanceof LastHttpContent && !Exchange.isInterim(message)) {
      heldBytes = 0;
      isRefused = false;
      discardJoined();
      if (takenBytes > 0) {
        written = promise.unvoid().addListener(done -> availableBytes.release(takenBytes));
      }
    }
    context.write(message, written);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    availableBytes.release(countedBytes(heldBytes));
    discardJoined();
  }

  /** Closes a connection that the client has reset, or on which a handler throws. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    LOG.debug("A connection is closed", failure);
    context.pipeline().firstContext().close(); // past handlers that would wait
  }
}
