package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.UnansweredExchanges;

/**
 * Decodes requests as Netty does, and knows how much it keeps of one that is not there as a whole.
 * Bounds the number of headers, each of which takes many times its bytes. Decodes nothing while the
 * client does not read its answers, and of many requests at once a few at a time. One per
 * connection, used by its event loop alone.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** About what is kept of a request beside its bytes. */
  private static final int BYTES_PER_REQUEST = 1024;

  /** About what is kept of a header beside its bytes. */
  private static final int BYTES_PER_HEADER = 200;

  /** So many requests of a connection are decoded before others have their turn. */
  private static final int MAX_REQUESTS_AT_ONCE = 8;

  private enum Part {
    NONE,
    HEAD,
    BODY
  }

  private final HeaderLimit headers;
  private final ConnectionDeadline deadline;
  private final UnansweredExchanges unanswered;

  private Part part = Part.NONE;
  private long headBytes;
  private boolean stopped;
  private boolean decoding;
  private boolean paused;
  private boolean yielding;
  private int requestsAtOnce;
  private @Nullable Object inputShutdown;

  /**
   * Makes the decoder of a connection.
   *
   * @param config its limits
   * @param deadline what is told of requests that are not whole
   * @param unanswered knows whether the request that is being received was answered
   */
  RequestDecoder(
      HttpDecoderConfig config, ConnectionDeadline deadline, UnansweredExchanges unanswered) {
    this(config, new HeaderLimit(), deadline, unanswered);
  }

  private RequestDecoder(
      HttpDecoderConfig config,
      HeaderLimit headers,
      ConnectionDeadline deadline,
      UnansweredExchanges unanswered) {
    super(config.setHeadersFactory(headers).setTrailersFactory(headers));
    this.headers = headers;
    this.deadline = deadline;
    this.unanswered = unanswered;
  }

  /** Answers about how many bytes the head takes that is being decoded, or was decoded last. */
  long headBytes() {
    return headBytes + (long) headers.count * BYTES_PER_HEADER;
  }

  /** Drops what comes from now on. */
  void stop() {
    stopped = true;
    deadline.requestReceived();
  }

  /** Says that a request was answered, perhaps before it has come as a whole. */
  void requestAnswered() {
    if (part != Part.NONE) {
      settle();
    }
  }

  /** Notes what is kept of the request that is being received. */
  private void settle() {
    ByteBuf kept = internalBuffer();
    if (paused) {
      deadline.pause();
    } else if (!stopped && (kept.isReadable() || part != Part.NONE)) {
      deadline.requestBegun(); // perhaps behind the end of another
    }
    // Behind others that are not answered yet, nobody has looked at the token.
    boolean isFirst = unanswered.count() == 1;
    Exchange served = part == Part.BODY && isFirst ? unanswered.latest() : null;
    deadline.keep(
        (kept.isReadable() ? kept.capacity() : 0)
            + (part == Part.NONE ? 0 : headBytes())
            + (served == null ? 0 : served.memory().ownBytes()),
        served != null);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    requestsAtOnce = 0;
    receive(context, message);
  }

  private void receive(ChannelHandlerContext context, Object message) throws Exception {
    if (!stopped) {
      deadline.requestBegun();
    }
    decoding = true;
    try {
      super.channelRead(context, message);
    } finally {
      decoding = false;
    }
    settle();
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded)
      throws Exception {
    if (stopped) {
      bytes.skipBytes(bytes.readableBytes());
      return;
    }
    if (!context.channel().isWritable()) {
      paused = true;
      return;
    }
    if (part == Part.NONE && requestsAtOnce >= MAX_REQUESTS_AT_ONCE) {
      paused = true;
      yielding = true;
      Turns.await(
          context.executor(),
          () -> {
            yielding = false;
            requestsAtOnce = 0;
            resume(context);
          });
      return;
    }
    int first = decoded.size();
    int before = bytes.readableBytes();
    super.decode(context, bytes, decoded);
    if (part == Part.HEAD) {
      headBytes += before - bytes.readableBytes();
    }
    for (int index = first; index < decoded.size(); index++) {
      Object object = decoded.get(index);
      if (object instanceof HttpRequest) {
        part = Part.BODY;
      }
      if (object instanceof LastHttpContent) {
        part = Part.NONE;
        requestsAtOnce++;
        deadline.requestReceived();
      }
    }
  }

  /** Called when the first line has been read. */
  @Override
  protected HttpMessage createMessage(String[] firstLine) throws Exception {
    part = Part.HEAD;
    headBytes = BYTES_PER_REQUEST;
    headers.count = 0;
    return super.createMessage(firstLine);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) throws Exception {
    super.channelWritabilityChanged(context);
    resume(context);
  }

  /** Goes on with what was left, unless it has to be left for longer. */
  private void resume(ChannelHandlerContext context) {
    if (decoding || yielding) {
      return;
    }
    try {
      while (paused && !yielding && context.channel().isWritable()) {
        paused = false;
        receive(context, Unpooled.EMPTY_BUFFER);
        super.channelReadComplete(context);
      }
      if (!paused && inputShutdown != null) {
        Object event = inputShutdown;
        inputShutdown = null;
        super.userEventTriggered(context, event);
      }
    } catch (Exception e) {
      context.fireExceptionCaught(e);
    }
    if (!paused) {
      deadline.goOn();
    }
  }

  /** What a client has sent before it closed its side is answered. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
    if (paused && event instanceof ChannelInputShutdownEvent) {
      inputShutdown = event;
    } else {
      super.userEventTriggered(context, event);
    }
  }

  /** Counts the headers of a request, and those behind its body. */
  private static final class HeaderLimit implements HttpHeadersFactory {

    private static final int MAX_HEADERS = 100;

    private int count;

    @Override
    public HttpHeaders newHeaders() {
      return new Counted();
    }

    @Override
    public HttpHeaders newEmptyHeaders() {
      return new Counted();
    }

    private void increase() {
      if (++count > MAX_HEADERS) {
        throw new TooLongFrameException("more than " + MAX_HEADERS + " headers");
      }
    }

    private final class Counted extends DefaultHttpHeaders {

      @Override
      public HttpHeaders add(CharSequence name, Object value) {
        increase();
        return super.add(name, value);
      }

      @Override
      public HttpHeaders add(String name, Object value) {
        increase();
        return super.add(name, value);
      }
    }
  }
}
