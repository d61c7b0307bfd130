package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.ssl.SslHandler;

/**
 * The state of a connection. This class is its only owner: the other handlers of the package report
 * events to it and ask it what they may do. The documentation of the package shows the transitions.
 *
 * <p>This is the first handler of the pipeline, so it sees the first byte of a request even if the
 * byte belongs to an incomplete TLS record, and it decides whether the socket is read. Used only by
 * the event loop of the connection.
 */
final class Connection extends ChannelDuplexHandler {

  private enum State {
    IDLE,
    RECEIVING,
    ANSWERING,
    DISCARDING,
    CLOSING
  }

  /** A user event for the decoder: input that waited for the end of a response can be decoded. */
  static final Object NEXT_REQUEST = new Object();

  /** Roughly the objects of a request whose head is empty. */
  private static final int BYTES_PER_REQUEST = 1024;

  private final Channel channel;
  private final SlowClients slowClients;
  private final RequestMemory.Share memory;
  private State state = State.IDLE;
  private boolean isTls;
  private boolean isInputBuffered;
  private int inputBytes;
  private int lastReadBytes;

  /** At least the bytes of an incomplete TLS record, which {@link SslHandler} does not disclose. */
  private int encryptedBytes;

  /** Whether the client's turn began after the last call of {@link #closeIfTimedOut}. */
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
      tls.handshakeFuture().addListener(done -> nothingBegun());
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

  /** Records that bytes have passed TLS, so all but the last read must have been decrypted. */
  void inputDecrypted() {
    encryptedBytes = isTls ? Math.min(encryptedBytes, lastReadBytes) : 0;
  }

  void requestBegun() {
    if (state == State.IDLE) {
      become(State.RECEIVING);
    }
  }

  /** Records that the bytes received were not part of a request. */
  void nothingBegun() {
    if (state == State.RECEIVING) {
      become(State.IDLE);
    }
  }

  /** Records how much memory the decoder holds for an incomplete request. */
  void inputHeld(int bytes) {
    inputBytes = bytes;
  }

  void headReceived(boolean hasBody) {
    become(hasBody ? State.RECEIVING : State.ANSWERING);
  }

  void requestReceived() {
    if (state == State.RECEIVING) {
      become(State.ANSWERING);
    } else if (state == State.DISCARDING) {
      become(State.CLOSING);
    }
  }

  /**
   * Records that the response is complete, and that the connection closes after it. The rest of a
   * body must be read first, because the kernel would reset the connection, and the client would
   * lose the response.
   */
  void answeredLast() {
    become(state == State.RECEIVING ? State.DISCARDING : State.CLOSING);
  }

  void answered() {
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

  /** Returns whether input may be decoded now; otherwise {@link #NEXT_REQUEST} follows. */
  boolean mayDecode() {
    isInputBuffered = state == State.ANSWERING || state == State.CLOSING;
    return !isInputBuffered;
  }

  boolean isReceiving() {
    return state == State.RECEIVING;
  }

  boolean isDiscarding() {
    return state == State.DISCARDING;
  }

  /** Returns whether a read must be short, because the memory for requests is exhausted. */
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
   * Closes the connection if the turn of its client has taken too long. Sending a request is one
   * turn, from its first byte to its last; each byte of a response that the client reads begins
   * another one. Returns whether the client has kept the service waiting.
   */
  boolean closeIfTimedOut(long now, long requestNanos, long idleNanos) {
    long unreadBytes = unreadBytes();
    if (isTurnNew || unreadBytes < lastUnreadBytes) {
      turnNanos = now;
    }
    isTurnNew = false;
    lastUnreadBytes = unreadBytes;
    boolean isSending = state != State.IDLE && state != State.ANSWERING && !memory.isWaiting();
    if ((isSending || !channel.isWritable()) && now - turnNanos > requestNanos) {
      closeAtOnce();
      return true;
    }
    if (state == State.IDLE && now - turnNanos > idleNanos) {
      channel.close(); // announced to a TLS client
    }
    return false;
  }

  /** Closes the connection without its other handlers, which would wait for the client. */
  void closeAtOnce() {
    memory.release();
    channel.pipeline().firstContext().close();
  }
}
