package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.RequestRecord;

/**
 * Decodes requests into {@link RequestRecord}s. In addition to Netty's checks, the decoder limits
 * the number of headers, because a header takes far more memory than its text. The decoder also
 * rejects input that a proxy might interpret differently: folded headers, a lone CR or LF before
 * the request line, and everything that {@link MalformedRequest} finds. Input that arrives during a
 * response is decoded later, because undecoded input takes less memory. A decoder is replaced after
 * a large request, because Netty's line buffer never shrinks. Used only by the connection's event
 * loop.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** The maximum size of the request line, and of all headers together, in bytes. */
  private static final int MAX_PART_BYTES = 16 * 1024;

  /** The maximum number of headers in a request, and of trailers after a body. */
  private static final int MAX_HEADERS = 100;

  /** The size of a request, in bytes, up to which its decoder is kept for the next request. */
  private static final int MAX_KEPT_BYTES = 4 * 1024;

  /** Represents the method and target of a malformed request line. "-" is never a valid target. */
  private static final String NONE = "-";

  private static final short CRLF = HttpConstants.CR << 8 | HttpConstants.LF;

  private final Connection connection;
  private boolean isBetweenRequests = true;
  private @Nullable String fault; // in the request line or the headers
  private int headers; // the number of headers or trailers received so far

  /** The number of bytes of the current request that have been decoded. */
  private long requestBytes;

  RequestDecoder(Connection connection) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_PART_BYTES)
            .setMaxHeaderSize(MAX_PART_BYTES));
    this.connection = connection;
  }

  /** Decodes the input that arrived during the previous response. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
    if (event.equals(Connection.NEXT_REQUEST)) {
      channelRead(context, Unpooled.EMPTY_BUFFER);
      channelReadComplete(context);
    } else {
      super.userEventTriggered(context, event);
    }
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded)
      throws Exception {
    if (connection.mayDecode() && (!isBetweenRequests || begins(bytes))) {
      requestBytes -= bytes.readerIndex();
      super.decode(context, bytes, decoded);
      requestBytes += bytes.readerIndex();
      if (!decoded.isEmpty()) {
        objectDecoded(context, (HttpObject) decoded.get(decoded.size() - 1));
      }
    }
  }

  /** Skips empty lines (RFC 9112, section 2.2), and returns whether a request follows. */
  private boolean begins(ByteBuf bytes) {
    while (bytes.readableBytes() > 1 && bytes.getShort(bytes.readerIndex()) == CRLF) {
      bytes.skipBytes(2);
    }
    headers = 0;
    requestBytes = 0;
    if (bytes.isReadable()) {
      connection.requestBegun();
    } else {
      connection.noRequestBegun();
    }
    isBetweenRequests = bytes.readableBytes() < 2;
    fault =
        isBetweenRequests ? null : MalformedRequest.ofBeginning(bytes.getByte(bytes.readerIndex()));
    return !isBetweenRequests;
  }

  private void objectDecoded(ChannelHandlerContext context, HttpObject last) {
    explain(last);
    isBetweenRequests = last instanceof LastHttpContent;
    if (isBetweenRequests && requestBytes > MAX_KEPT_BYTES) {
      context.pipeline().replace(this, context.name(), new RequestDecoder(connection));
    }
  }

  /** Replaces Netty's exception for malformed input with one whose message explains the fault. */
  private void explain(HttpObject last) {
    Throwable cause = last.decoderResult().cause();
    if (cause != null && !(cause instanceof RefusedException)) {
      String message = fault == null ? messageFor(cause, last) : fault;
      last.setDecoderResult(DecoderResult.failure(malformed(message)));
    }
  }

  private static String messageFor(Throwable cause, HttpObject last) {
    if (last instanceof RequestRecord request) {
      boolean isLine = request.path().equals(NONE);
      return MalformedRequest.ofHead(
          cause, isLine ? MalformedRequest.REQUEST_LINE : MalformedRequest.HEADERS);
    }
    return MalformedRequest.BODY;
  }

  private static RefusedException malformed(String message) {
    return new RefusedException(ErrorNumber.MALFORMED_REQUEST, message);
  }

  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    if (fault == null) {
      fault = MalformedRequest.ofRequestLine(line, start + length);
    }
    return super.splitThirdWordInitialLine(line, start, length);
  }

  @Override
  protected HttpMessage createMessage(String[] words) {
    return new RequestRecord(
        // The framework copies the request's version to the response.
        fault == null ? HttpVersion.valueOf(words[2]) : HttpVersion.HTTP_1_1,
        HttpMethod.valueOf(words[0]),
        words[1],
        headersFactory.newHeaders());
  }

  @Override
  protected HttpMessage createInvalidMessage() {
    return new RequestRecord(
        HttpVersion.HTTP_1_1, HttpMethod.valueOf(NONE), NONE, headersFactory.newHeaders());
  }

  /** Counts headers and trailers. Netty calls this method once for each header or trailer. */
  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    headers++;
    if (headers > MAX_HEADERS) {
      throw malformed(
          "The request has more than " + MAX_HEADERS + " headers or trailers; remove some.");
    }
    return super.splitHeaderName(line, start, length);
  }

  /**
   * Checks the request line and the headers. Netty calls this method after it has joined folded
   * lines. If more line ends were read than there are joined lines, a header was folded.
   */
  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage request) {
    HttpMessageDecoderResult sizes = (HttpMessageDecoderResult) request.decoderResult();
    int lines = 1 + headers + 1; // the request line, the headers, and the empty line
    headers = 0;
    if (fault == null) {
      fault =
          requestBytes + internalBuffer().readerIndex() == sizes.totalSize() + 2 * lines
              ? MalformedRequest.ofHeaders((HttpRequest) request)
              : MalformedRequest.HEADERS;
    }
    if (fault != null) {
      throw malformed(fault); // makes Netty discard all further input
    }
    return false;
  }
}
