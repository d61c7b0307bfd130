package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;

/**
 * Allocates the buffers that receive input from a connection's socket. While the memory for
 * requests is exhausted, each read is limited to a few bytes. Reads can still occur while the
 * memory is exhausted, because a read that has been requested cannot be canceled.
 */
@SuppressWarnings("deprecation") // RecvByteBufAllocator has no replacement yet
final class ReceiveBuffers extends AdaptiveRecvByteBufAllocator {

  private static final int SHORT_READ_BYTES = 64;

  /** The initial buffer size, in bytes. Most requests fit into one buffer of this size. */
  private static final int FIRST_READ_BYTES = 2 * 1024;

  /** The maximum buffer size, in bytes, which also limits the input buffered during a response. */
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
