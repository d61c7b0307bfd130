package org.plantstore.adapter.http.connection;

import static java.util.Objects.requireNonNull;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import org.plantstore.adapter.http.connection.CurrentRequest.Part;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Takes memory for each part of a body from the {@link BodyBudget}, and gives it back when the
 * answer is written. Refuses a body for which there is none. Stands behind {@link
 * MalformedRequests}. One per connection, used by its event loop only.
 */
final class BodyMemory extends ChannelDuplexHandler {

  /** The memory of a part of a body in addition to its content, which may be a single byte. */
  private static final int BYTES_PER_PART = 256;

  private final CurrentRequest current;
  private final BodyBudget budget;
  private long takenBytes;

  BodyMemory(CurrentRequest current, BodyBudget budget) {
    this.current = current;
    this.budget = budget;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (current.next() == Part.BODY && message instanceof HttpContent part) {
      receive(context, requireNonNull(current.exchange()), part);
    } else {
      context.fireChannelRead(message);
    }
  }

  private void receive(ChannelHandlerContext context, Exchange head, HttpContent part) {
    boolean isLast = part instanceof LastHttpContent;
    int bytes = part.content().readableBytes() + BYTES_PER_PART;
    if (budget.take(takenBytes, bytes)) {
      takenBytes += bytes;
      if (isLast) {
        current.endBody(head);
      }
      context.fireChannelRead(part);
    } else {
      current.refuseBody(isLast);
      part.release();
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
    }
  }

  /**
   * Waits for a small body before the framework starts the request, which it does when a read is
   * complete. Otherwise a client could cheaply make the service start and abandon work.
   */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (current.next() == Part.BODY
        && takenBytes <= BodyBudget.FREE_BYTES
        && !HttpUtil.is100ContinueExpected(requireNonNull(current.exchange()))) {
      context.read();
    } else {
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    ChannelPromise written = promise;
    if (CurrentRequest.isLastPart(message)) {
      long givenBytes = takenBytes;
      takenBytes = 0;
      if (givenBytes > BodyBudget.FREE_BYTES) {
        // Also if the answer is dropped: RequestSequence completes its promise.
        written = promise.unvoid().addListener(done -> budget.release(givenBytes));
      }
    }
    context.write(message, written);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    budget.release(takenBytes);
  }
}
