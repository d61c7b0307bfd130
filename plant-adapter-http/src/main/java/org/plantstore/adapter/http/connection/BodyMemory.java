package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.Semaphore;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes memory for each part of a body, gives it back when the answer is written, and refuses a
 * body for which there is none. Closes the connection if a handler fails. Stands in front of the
 * framework. One per connection, used by its event loop only.
 */
final class BodyMemory extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(BodyMemory.class);

  /** The first bytes of each body, which are not counted; most plants have no more. */
  private static final int FREE_BYTES = 4 * 1024;

  /** The memory of a part of a body in addition to its content, which may be a single byte. */
  private static final int BYTES_PER_PART = 256;

  private enum Body {
    /** Its rest is awaited before the framework starts the request, if it is small. */
    AWAITED,
    /** The framework gets what arrives. */
    PASSED,
    /** There is no memory for it. */
    REFUSED
  }

  private final Semaphore freeBytes;
  private Body body = Body.PASSED;
  private int bodyBytes;

  /** Creates a handler that takes permits, one for each byte. */
  BodyMemory(Semaphore freeBytes) {
    this.freeBytes = freeBytes;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof Exchange head) {
      boolean isAwaited = head.hasBody() && !HttpUtil.is100ContinueExpected(head);
      body = isAwaited ? Body.AWAITED : Body.PASSED;
    } else if (message instanceof HttpContent part) {
      boolean isLast = part instanceof LastHttpContent;
      if (body == Body.REFUSED || !take(part.content().readableBytes() + BYTES_PER_PART)) {
        refuse(context, part);
        if (isLast) {
          context.fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
        }
        return;
      }
      body = isLast ? Body.PASSED : body;
    }
    context.fireChannelRead(message);
  }

  private boolean take(int partBytes) {
    int moreBytes = countedBytes(bodyBytes + partBytes) - countedBytes(bodyBytes);
    boolean isTaken = moreBytes == 0 || freeBytes.tryAcquire(moreBytes);
    bodyBytes += isTaken ? partBytes : 0;
    return isTaken;
  }

  private static int countedBytes(int bodyBytes) {
    return Math.max(bodyBytes - FREE_BYTES, 0);
  }

  private void refuse(ChannelHandlerContext context, HttpContent part) {
    part.release();
    if (body != Body.REFUSED) {
      body = Body.REFUSED;
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
    }
  }

  /**
   * Waits for a small body before the framework starts the request, which it does when a read is
   * complete. Otherwise a client could cheaply make the service start and abandon work.
   */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (body == Body.AWAITED && bodyBytes <= FREE_BYTES) {
      context.read();
    } else {
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    ChannelPromise written = promise;
    int takenBytes = countedBytes(bodyBytes);
    if (message instanceof LastHttpContent && !RequestSequence.isInformational(message)) {
      bodyBytes = 0;
      body = Body.PASSED;
      if (takenBytes > 0) {
        written = promise.unvoid().addListener(done -> freeBytes.release(takenBytes));
      }
    }
    context.write(message, written);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    freeBytes.release(countedBytes(bodyBytes));
  }

  /** Closes a connection that the client has reset, or on which a handler throws. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    LOG.debug("A connection is closed", failure);
    context.pipeline().firstContext().close(); // past handlers that would wait
  }
}
