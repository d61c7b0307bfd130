package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;

/**
 * The buffers for the reads of a connection. A read cannot be refused once the socket is readable,
 * so while the memory for requests is exhausted, it takes only a few bytes.
 */
@SuppressWarnings("deprecation") // RecvByteBufAllocator has no successor yet
final class ReceiveBuffers extends AdaptiveRecvByteBufAllocator {

  private static final int SHORT_READ_BYTES = 64;

  /** Most requests fit into the first read. */
  private static final int FIRST_READ_BYTES = 2 * 1024;

  /** The largest read bounds the pipelined requests that are buffered. */
  private static final int MAX_READ_BYTES = 8 * 1024;

  private final Connection connection;

  ReceiveBuffers(Connection connection) {
    super(SHORT_READ_BYTES, FIRST_READ_BYTES, MAX_READ_BYTES);
    this.connection = connection;
  }

  @Override
  public RecvByteBufAllocator.Handle newHandle() {
    return new RecvByteBufAllocator.DelegatingHandle(super.newHandle()) {
      @Override
      public ByteBuf allocate(ByteBufAllocator allocator) {
        return connection.isReadShort()
            ? allocator.ioBuffer(SHORT_READ_BYTES)
            : super.allocate(allocator);
      }
    };
  }
}
