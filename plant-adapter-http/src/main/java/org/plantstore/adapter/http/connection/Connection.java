package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.ssl.SslHandler;

/**
 * Tracks the state of a connection, and decides when its socket is read. The other handlers in this
 * package report events to this class and query its state. The package documentation describes the
 * states and their transitions. This handler must be the first one in the pipeline, so that it sees
 * the first byte of a request even if that byte belongs to an incomplete TLS record. Used only by
 * the connection's event loop.
 */
final class Connection extends ChannelDuplexHandler {

  private enum State {
    IDLE,
    RECEIVING,
    RESPONDING,
    DISCARDING,
    CLOSING
  }

  /** The user event that tells the decoder to process any input received during a response. */
  static final Object NEXT_REQUEST = new Object();

  /** The approximate size, in bytes, of the objects that represent a request, excluding text. */
  private static final int BYTES_PER_REQUEST = 4 * 1024;

  /** Each received byte counts twice, because each line is held both as bytes and as a string. */
  private static final int MEMORY_PER_BYTE = 2;

  /**
   * The maximum size, in bytes, of the request line and the headers together. {@link BodyMemory}
   * limits the memory for bodies.
   */
  private static final int MAX_COUNTED_BYTES = 32 * 1024;

  private final Channel channel;
  private final SlowClients slowClients;
  private final RequestMemory.Share memory;
  private State state = State.IDLE;
  private boolean isInputBuffered;

  /** The number of bytes received since the connection was last idle. */
  private int receivedBytes;

  /** Whether the timeout starts again at the next call to {@link #closeIfTimedOut}. */
  private boolean mustRestartTimeout = true;

  private long timeoutStartNanos;
  private long lastUnreadBytes;

  Connection(Channel channel, SlowClients slowClients) {
    this.channel = channel;
    this.slowClients = slowClients;
    this.memory = slowClients.memory().newShare(this::resumeReading);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    slowClients.add(this);
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (tls != null) {
      tls.handshakeFuture().addListener(done -> noRequestBegun());
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    slowClients.remove(this);
    memory.release();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    int earlierBytes = state == State.IDLE ? 0 : receivedBytes;
    receivedBytes = Math.min(earlierBytes + ((ByteBuf) bytes).readableBytes(), MAX_COUNTED_BYTES);
    requestBegun();
    context.fireChannelRead(bytes);
  }

  void requestBegun() {
    if (state == State.IDLE) {
      become(State.RECEIVING);
    }
  }

  /** Records that the bytes received so far do not belong to a request. */
  void noRequestBegun() {
    if (state == State.RECEIVING) {
      become(State.IDLE);
    }
  }

  void headersReceived(boolean hasBody) {
    become(hasBody ? State.RECEIVING : State.RESPONDING);
  }

  void requestReceived() {
    if (state == State.RECEIVING) {
      become(State.RESPONDING);
    } else if (state == State.DISCARDING) {
      become(State.CLOSING);
    }
  }

  /**
   * Ends the last response. If the request is incomplete, the rest of it is read before the socket
   * is closed. Otherwise, the kernel would reset the connection because of the unread input, and
   * the client could lose the response.
   */
  void lastResponseEnded() {
    become(state == State.RECEIVING ? State.DISCARDING : State.CLOSING);
  }

  void responseEnded() {
    receivedBytes = 0;
    become(State.IDLE);
    if (isInputBuffered) {
      channel.eventLoop().execute(() -> channel.pipeline().fireUserEventTriggered(NEXT_REQUEST));
    }
  }

  private void become(State next) {
    state = next;
    mustRestartTimeout = true;
    updateMemory();
  }

  /** Returns whether input can be decoded without waiting for a {@link #NEXT_REQUEST} event. */
  boolean mayDecode() {
    isInputBuffered = state == State.RESPONDING || state == State.CLOSING;
    return !isInputBuffered;
  }

  boolean isReceiving() {
    return state == State.RECEIVING;
  }

  boolean isDiscarding() {
    return state == State.DISCARDING;
  }

  /**
   * Returns whether the next read is limited to a few bytes. Reads are limited while the memory for
   * requests is exhausted, unless the connection's request is exempt from the limit.
   */
  boolean isReadShort() {
    return memory.isLimited();
  }

  @Override
  public void read(ChannelHandlerContext context) {
    updateMemory();
    if (!isInputBuffered && (state != State.RECEIVING || memory.mayRead())) {
      context.read();
    }
  }

  private void resumeReading() {
    mustRestartTimeout = true;
    channel.pipeline().firstContext().read();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    mustRestartTimeout = true;
    updateMemory();
    context.fireChannelWritabilityChanged();
  }

  private void updateMemory() {
    // A closed channel is never writable. The memory of a closed channel is released when the
    // channel's handlers are removed.
    if (state == State.RECEIVING || !channel.isWritable()) {
      memory.hold(BYTES_PER_REQUEST + MEMORY_PER_BYTE * receivedBytes + unreadBytes());
    } else {
      memory.release();
    }
  }

  private long unreadBytes() {
    ChannelOutboundBuffer output = channel.unsafe().outboundBuffer();
    return output == null ? 0 : output.totalPendingWriteBytes() - output.currentProgress();
  }

  /**
   * Closes the connection if its client has been idle, or has kept the service waiting, for too
   * long. The timeout starts again whenever the state changes, the client reads part of a response,
   * or the service resumes reading a request. All arguments are in nanoseconds. Returns whether the
   * connection was closed because the client kept the service waiting.
   */
  boolean closeIfTimedOut(long now, long requestNanos, long idleNanos) {
    long unreadBytes = unreadBytes();
    if (mustRestartTimeout || unreadBytes < lastUnreadBytes) {
      timeoutStartNanos = now;
    }
    mustRestartTimeout = false;
    lastUnreadBytes = unreadBytes;
    boolean isSending = state != State.IDLE && state != State.RESPONDING && !memory.isWaiting();
    if ((isSending || !channel.isWritable()) && now - timeoutStartNanos > requestNanos) {
      closeAtOnce();
      return true;
    }
    if (state == State.IDLE && now - timeoutStartNanos > idleNanos) {
      channel.close(); // through the pipeline, so that TLS sends close_notify first
    }
    return false;
  }

  /** Closes the connection and bypasses the other handlers, which would wait for the client. */
  void closeAtOnce() {
    memory.release();
    channel.pipeline().firstContext().close();
  }
}
