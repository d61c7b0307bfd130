package org.plantstore.adapter.http.connection;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Passes one request at a time to the framework, which would process pipelined creates concurrently
 * (RFC 9112, section 9.3.2), records its answer, and ends the connection after an answer to a
 * malformed or incomplete request, to a request with {@code Connection: close}, or during the
 * drain. Stands first behind decoder and encoder. One per connection, used by its event loop only.
 */
final class RequestSequence extends ChannelDuplexHandler {

  /** Bounds how much of a refused body is read. Most clients send all of it before they read. */
  private static final long MAX_DROPPED_BYTES = 16 * 1024 * 1024;

  /** How long a new connection stays open for its first request during the drain. */
  private static final long FIRST_REQUEST_SECONDS = 5;

  private enum State {
    /** Nothing has been requested. */
    NEW,
    /** The body of a request is read; its answer may begin before its end. */
    READING,
    /** A whole request waits for its answer; the next one is not decoded. */
    ANSWERING,
    /** The next request is awaited. */
    IDLE,
    /** The answer is sent, and the rest of the body is read: a reset would lose the answer. */
    DROPPING,
    /** The last answer closes the connection. */
    ENDED
  }

  private final BooleanSupplier isDraining;
  private final AllowedOrigins origins;
  private final Consumer<Exchange> ended;
  private RequestDecoder decoder = new RequestDecoder(this);
  private State state = State.NEW;
  private @Nullable Exchange exchange; // until it is answered
  private boolean closesConnection; // behind the answer
  private long droppedBytes;
  private int answers;

  RequestSequence(BooleanSupplier isDraining, AllowedOrigins origins, Consumer<Exchange> ended) {
    this.isDraining = isDraining;
    this.origins = origins;
    this.ended = ended;
  }

  /** Returns the decoder of the connection, which is replaced after a large head. */
  RequestDecoder decoder() {
    return decoder;
  }

  /** Replaces the decoder; the new one gets what the old one has not decoded. */
  void replaceDecoder(ChannelHandlerContext ofDecoder) {
    decoder = new RequestDecoder(this);
    ofDecoder.pipeline().replace(ofDecoder.handler(), ofDecoder.name(), decoder);
  }

  /** Returns whether a whole request waits for its answer. */
  boolean isAnswering() {
    return state == State.ANSWERING;
  }

  /** Returns whether input is decoded, and not left for the time after the answer. */
  boolean isDecoding() {
    return !isAnswering() && state != State.ENDED;
  }

  /** Returns whether the rest of a request is awaited from the client. */
  boolean isUnfinished() {
    return isDecoding() && decoder.isBegun();
  }

  /** Returns whether more of a body comes without {@code 100 Continue}. */
  boolean isBodyAwaited() {
    Exchange head = exchange;
    return state == State.READING && head != null && !HttpUtil.is100ContinueExpected(head);
  }

  /** Returns the number of answers. */
  int answers() {
    return answers;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (state == State.DROPPING) {
      drop(context, (HttpContent) message);
      return;
    }
    if (message instanceof Exchange head) {
      head.begin();
      exchange = head;
      state = head.hasBody() ? State.READING : State.ANSWERING;
    } else if (state == State.READING && message instanceof LastHttpContent) {
      state = State.ANSWERING;
    }
    if (context.channel().isActive()) {
      context.fireChannelRead(message);
    } else { // the client has left within the head
      ReferenceCountUtil.release(message);
    }
  }

  private void drop(ChannelHandlerContext context, HttpContent part) {
    droppedBytes += part.content().readableBytes();
    if (part instanceof LastHttpContent || droppedBytes > MAX_DROPPED_BYTES) {
      state = State.ENDED;
      // Closes behind the last bytes of the answer.
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
    part.release();
  }

  /** Reads nothing while a pipelined request waits. */
  @Override
  public void read(ChannelHandlerContext context) {
    if (isDecoding() || !decoder.isBegun()) {
      context.read();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    Exchange answered = exchange;
    if (answered == null || Exchange.isInterim(message)) {
      context.write(message, promise);
      return;
    }
    answered.recordAnswer(message, origins);
    if (message instanceof HttpResponse head) {
      closesConnection =
          state == State.READING
              || !HttpUtil.isKeepAlive(answered)
              || !HttpUtil.isKeepAlive(head)
              || isDraining.getAsBoolean();
      if (closesConnection) {
        head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
    }
    boolean isEnd = message instanceof LastHttpContent;
    context.write(message, isEnd ? end(promise) : promise);
    if (isEnd) {
      ended.accept(answered);
      if (state == State.IDLE && decoder.isBegun()) {
        context.executor().execute(() -> decoder.resume(context.pipeline()));
      }
    }
  }

  private ChannelPromise end(ChannelPromise promise) {
    exchange = null;
    answers++;
    if (!closesConnection) {
      state = State.IDLE;
      return promise;
    }
    state = state == State.READING ? State.DROPPING : State.ENDED;
    return promise.unvoid().addListener(ChannelFutureListener.CLOSE);
  }

  /**
   * Closes only the output while the rest of a body is dropped. During the drain, closes a new
   * connection only if no request arrives in time.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (state == State.NEW && isDraining.getAsBoolean()) {
      Callable<?> closeIfUnused = () -> state == State.NEW ? context.close() : null;
      context.executor().schedule(closeIfUnused, FIRST_REQUEST_SECONDS, SECONDS);
    } else if (state != State.DROPPING) {
      context.close(promise);
    } else if (tls != null) {
      tls.closeOutbound(promise);
    } else {
      ((DuplexChannel) context.channel()).shutdownOutput(promise);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    Exchange unanswered = exchange;
    if (unanswered != null) {
      ended.accept(unanswered);
    }
  }
}
