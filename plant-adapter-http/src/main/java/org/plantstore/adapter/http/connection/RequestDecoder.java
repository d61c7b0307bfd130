package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpContent;
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

/**
 * Decodes {@link DecodedRequest}s. In addition to Netty's checks, this decoder limits the number of
 * headers, because a header in memory is many times larger than its text. It also refuses what a
 * proxy might interpret differently: folded lines, a CR or LF by itself before the first line, and
 * everything that {@link MalformedRequest} finds. Input that arrives during a response is decoded
 * after the response, because encoded input takes less memory. A decoder is replaced after a long
 * line, because its buffer never shrinks. Used only by the event loop of the connection.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** The maximum size of the first line, and of all headers together. */
  private static final int MAX_HEAD_PART_BYTES = 16 * 1024;

  /** The maximum number of headers in a head, and of trailers in a body. */
  private static final int MAX_HEADERS = 100;

  /** Half of the overhead of a header, because {@link #heldBytes} doubles the bytes of lines. */
  private static final int BYTES_PER_HEADER = 64;

  /** If a line is longer, the decoder is replaced, because Netty's buffer never shrinks. */
  private static final int MAX_KEPT_BYTES = 4 * 1024;

  /** Replaces the method and the target of an unusable first line. No valid target is equal. */
  private static final String NONE = "-";

  private static final short CRLF = HttpConstants.CR << 8 | HttpConstants.LF;

  private final Connection connection;
  private boolean isBetweenRequests = true;
  private @Nullable String fault; // of the head
  private int headers; // or trailers

  /** The bytes of the lines since the last head or body part, and the overhead of headers. */
  private int lineBytes;

  /** The largest value of {@link #lineBytes} during the current request. */
  private int maxLineBytes;

  /** The bytes of the body that {@link BodyMemory} holds without permits. */
  private int bodyBytes;

  RequestDecoder(Connection connection) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_HEAD_PART_BYTES)
            .setMaxHeaderSize(MAX_HEAD_PART_BYTES));
    this.connection = connection;
  }

  /** Estimates the memory of the request. Lines count twice: decoded, and in Netty's buffer. */
  private int heldBytes() {
    return 2 * Math.max(maxLineBytes, lineBytes) + bodyBytes + actualReadableBytes();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) throws Exception {
    connection.inputHeld(heldBytes());
    super.channelReadComplete(context);
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
    connection.inputDecrypted();
    if (connection.mayDecode() && (!isBetweenRequests || begins(bytes))) {
      lineBytes -= bytes.readerIndex();
      super.decode(context, bytes, decoded);
      lineBytes += bytes.readerIndex();
      if (!decoded.isEmpty()) {
        end(context, (HttpObject) decoded.get(decoded.size() - 1));
      }
    }
  }

  /** Skips empty lines (RFC 9112, section 2.2), and returns whether a request follows. */
  private boolean begins(ByteBuf bytes) {
    while (bytes.readableBytes() > 1 && bytes.getShort(bytes.readerIndex()) == CRLF) {
      bytes.skipBytes(2);
    }
    headers = 0;
    lineBytes = 0;
    maxLineBytes = 0;
    bodyBytes = 0;
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

  /** Ends a head or a part of a body. Netty's buffer does not shrink afterward. */
  private void end(ChannelHandlerContext context, HttpObject last) {
    int contentBytes = last instanceof HttpContent part ? part.content().readableBytes() : 0;
    bodyBytes = Math.min(bodyBytes + contentBytes, BodyMemory.FREE_BYTES);
    maxLineBytes = Math.max(maxLineBytes, lineBytes - contentBytes);
    lineBytes = 0;
    explain(last);
    isBetweenRequests = last instanceof LastHttpContent;
    if (isBetweenRequests && maxLineBytes > MAX_KEPT_BYTES) {
      context.pipeline().replace(this, context.name(), new RequestDecoder(connection));
    }
  }

  /** Replaces the cause of a malformed head or body with a refusal that explains it. */
  private void explain(HttpObject last) {
    Throwable cause = last.decoderResult().cause();
    if (cause != null && !(cause instanceof RefusedException)) {
      String sentence = fault == null ? MalformedRequest.ofDecoder(cause, faultOf(last)) : fault;
      last.setDecoderResult(DecoderResult.failure(malformed(sentence)));
    }
  }

  private static String faultOf(HttpObject last) {
    if (last instanceof DecodedRequest head) {
      return head.path().equals(NONE) ? MalformedRequest.FIRST_LINE : MalformedRequest.HEADERS;
    }
    return MalformedRequest.TRAILERS;
  }

  private static RefusedException malformed(String sentence) {
    return new RefusedException(ErrorNumber.MALFORMED_REQUEST, sentence);
  }

  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    if (fault == null) {
      fault = MalformedRequest.ofFirstLine(line, start + length);
    }
    return super.splitThirdWordInitialLine(line, start, length);
  }

  @Override
  protected HttpMessage createMessage(String[] firstLine) {
    return new DecodedRequest(
        // The framework responds with the version of the request.
        fault == null ? HttpVersion.valueOf(firstLine[2]) : HttpVersion.HTTP_1_1,
        HttpMethod.valueOf(firstLine[0]),
        firstLine[1],
        headersFactory.newHeaders());
  }

  @Override
  protected HttpMessage createInvalidMessage() {
    return new DecodedRequest(
        HttpVersion.HTTP_1_1, HttpMethod.valueOf(NONE), NONE, headersFactory.newHeaders());
  }

  /** Counts the headers and trailers. Netty calls this method for each of them. */
  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    headers++;
    lineBytes += BYTES_PER_HEADER;
    if (headers > MAX_HEADERS) {
      throw malformed(
          "The request has more than " + MAX_HEADERS + " headers or trailers; remove some.");
    }
    return super.splitHeaderName(line, start, length);
  }

  /**
   * Checks the head. Netty calls this method at the end of each head, after it has joined folded
   * lines. A header is folded if more bytes were read than the joined lines contain.
   */
  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage head) {
    HttpMessageDecoderResult sizes = (HttpMessageDecoderResult) head.decoderResult();
    int ends = 2 * (1 + headers + 1); // CRLF after the first line, each header, and the empty line
    int expectedBytes =
        sizes.initialLineLength() + sizes.headerSize() + ends + headers * BYTES_PER_HEADER;
    headers = 0;
    if (fault == null) {
      fault =
          lineBytes + internalBuffer().readerIndex() == expectedBytes
              ? MalformedRequest.ofHead((HttpRequest) head)
              : MalformedRequest.HEADERS;
    }
    if (fault != null) {
      throw malformed(fault); // makes Netty discard all further input
    }
    return false;
  }
}
