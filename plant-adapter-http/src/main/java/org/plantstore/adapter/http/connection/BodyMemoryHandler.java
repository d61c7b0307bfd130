package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.RequestMemory;
import org.plantstore.adapter.http.observe.UnansweredExchanges;

/**
 * Takes the {@link RequestMemory} for the bodies of a connection, and refuses those for which there
 * is none left. What is refused is still read, so that the client reads its answer, and dropped.
 * One per connection, used by its event loop alone.
 */
final class BodyMemoryHandler extends ChannelInboundHandlerAdapter {

  /** About what is kept beside the bytes of a part, of which a body may have as many as bytes. */
  private static final int BYTES_PER_PART = 256;

  private final UnansweredExchanges exchanges;

  BodyMemoryHandler(UnansweredExchanges exchanges) {
    this.exchanges = exchanges;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpContent part && part.content().isReadable()) {
      Exchange incoming = exchanges.latest();
      // What comes of a body after its answer is dropped, and takes no memory.
      if (incoming != null
          && !incoming.memory().grow(part.content().readableBytes() + BYTES_PER_PART)) {
        context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
      }
    }
    context.fireChannelRead(message instanceof HttpContent part ? withoutItsBuffer(part) : message);
  }

  /**
   * A small part that waits for the rest of its body would keep all of the large buffer that it was
   * read into.
   */
  private static HttpContent withoutItsBuffer(HttpContent part) {
    ByteBuf bytes = part.content();
    ByteBuf buffer = bytes.unwrap();
    if (part instanceof LastHttpContent
        || buffer == null
        || buffer.capacity() / 2 <= bytes.readableBytes()) {
      return part;
    }
    try {
      return part.replace(bytes.copy());
    } finally {
      bytes.release();
    }
  }
}
