package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.Semaphore;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the memory of bodies: takes permits for each part of a body, gives them back when the
 * answer is written, and lets the framework refuse a body for which there are none. Awaits small
 * bodies before the framework starts their requests. Closes the connection if a handler fails.
 * Stands in front of the framework. One per connection, used by its event loop only.
 */
final class BodyMemory extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(BodyMemory.class);

  /** The first bytes of each body, which are not counted; most plants have no more. */
  private static final int UNCOUNTED_BYTES = 4 * 1024;

  /** The memory of a part of a body in addition to its content, which may be a single byte. */
  private static final int BYTES_PER_PART = 256;

  private final RequestSequence sequence;
  private final Semaphore availableBytes;
  private boolean isRefused;
  private int heldBytes;

  /** Creates a handler that takes permits, one for each byte. */
  BodyMemory(RequestSequence sequence, Semaphore availableBytes) {
    this.sequence = sequence;
    this.availableBytes = availableBytes;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof HttpContent part) || take(context, part)) {
      context.fireChannelRead(message);
      return;
    }
    part.release();
    if (part instanceof LastHttpContent) {
      context.fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  private boolean take(ChannelHandlerContext context, HttpContent part) {
    int bytes = heldBytes + part.content().readableBytes() + BYTES_PER_PART;
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
      if (takenBytes > 0) {
        written = promise.unvoid().addListener(done -> availableBytes.release(takenBytes));
      }
    }
    context.write(message, written);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    availableBytes.release(countedBytes(heldBytes));
  }

  /** Closes a connection that the client has reset, or on which a handler throws. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    LOG.debug("A connection is closed", failure);
    context.pipeline().firstContext().close(); // past handlers that would wait
  }
}
