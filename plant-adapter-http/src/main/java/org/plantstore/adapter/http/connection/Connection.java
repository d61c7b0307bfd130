package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.ssl.SslHandler;

/**
 * Owns the state of a connection. The other handlers of this package report events to this class
 * and ask it what they may do. The package documentation shows the states and their transitions.
 *
 * <p>This handler is the first one in the pipeline for two reasons: it must see the first byte of a
 * request even if the byte belongs to an incomplete TLS record, and it decides when the socket is
 * read. Used only by the event loop of the connection.
 */
final class Connection extends ChannelDuplexHandler {

  private enum State {
    IDLE,
    RECEIVING,
    RESPONDING,
    DISCARDING,
    CLOSING
  }

  /** The user event that makes the decoder decode the input that arrived during a response. */
  static final Object NEXT_REQUEST = new Object();

  /** The approximate size of the objects that represent a request with an empty head. */
  private static final int BYTES_PER_REQUEST = 1024;

  private final Channel channel;
  private final SlowClients slowClients;
  private final RequestMemory.Share memory;
  private State state = State.IDLE;
  private boolean isTls;
  private boolean isInputBuffered;
  private int inputBytes;
  private int lastReadBytes;

  /** An upper bound for the size of the incomplete TLS record in {@link SslHandler}. */
  private int encryptedBytes;

  /** Whether the client has begun a new turn since the last {@link #closeIfTimedOut}. */
  private boolean isTurnNew = true;

  private long turnNanos;
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
      isTls = true;
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
    requestBegun();
    lastReadBytes = ((ByteBuf) bytes).readableBytes();
    encryptedBytes += lastReadBytes;
    context.fireChannelRead(bytes);
  }

  /** Records that decrypted input has arrived. Only the last read can still be encrypted. */
  void inputDecrypted() {
    encryptedBytes = isTls ? Math.min(encryptedBytes, lastReadBytes) : 0;
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

  /** Records how many bytes the decoder holds for an incomplete request. */
  void inputHeld(int bytes) {
    inputBytes = bytes;
  }

  void headReceived(boolean hasBody) {
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
   * Records that the last response of the connection is complete. If the request is incomplete, its
   * rest must be read before the connection is closed: otherwise the kernel would reset the
   * connection, and the client could lose the response.
   */
  void lastResponseEnded() {
    become(state == State.RECEIVING ? State.DISCARDING : State.CLOSING);
  }

  void responseEnded() {
    become(State.IDLE);
    if (isInputBuffered) {
      channel.eventLoop().execute(() -> channel.pipeline().fireUserEventTriggered(NEXT_REQUEST));
    }
  }

  private void become(State next) {
    state = next;
    isTurnNew = true;
    updateMemory();
  }

  /** Returns whether input may be decoded now, or must wait for {@link #NEXT_REQUEST}. */
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

  /** Returns whether the next read must be short because the memory for requests is exhausted. */
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
    isTurnNew = true;
    channel.pipeline().firstContext().read();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    isTurnNew = true;
    updateMemory();
    context.fireChannelWritabilityChanged();
  }

  private void updateMemory() {
    if ((state == State.RECEIVING || !channel.isWritable()) && channel.isActive()) {
      memory.hold(BYTES_PER_REQUEST + inputBytes + encryptedBytes + unreadBytes());
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
   * long. The client's turn begins when it may send a request, when it sends the first byte of a
   * request, and whenever it reads a part of a response. Returns whether the connection was closed
   * because the client kept the service waiting.
   */
  boolean closeIfTimedOut(long now, long requestNanos, long idleNanos) {
    long unreadBytes = unreadBytes();
    if (isTurnNew || unreadBytes < lastUnreadBytes) {
      turnNanos = now;
    }
    isTurnNew = false;
    lastUnreadBytes = unreadBytes;
    boolean isSending = state != State.IDLE && state != State.RESPONDING && !memory.isWaiting();
    if ((isSending || !channel.isWritable()) && now - turnNanos > requestNanos) {
      closeAtOnce();
      return true;
    }
    if (state == State.IDLE && now - turnNanos > idleNanos) {
      channel.close(); // through the pipeline, so that TLS sends close_notify first
    }
    return false;
  }

  /** Closes the connection directly, because the other handlers would wait for the client. */
  void closeAtOnce() {
    memory.release();
    channel.pipeline().firstContext().close();
  }
}
