package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
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
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Decodes {@link Exchange}s. In addition to Netty's checks, bounds the number of headers, because a
 * header takes many times its bytes, and refuses what a proxy may interpret differently: folded
 * lines, CR or LF alone before the first line, and what {@link RequestHead} refuses. During an
 * answer, the next request stays bytes, which take less memory. One per connection, until a large
 * head replaces it; used by the connection's event loop only.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** Bounds the first line, and all headers together. */
  private static final int MAX_HEAD_PART_BYTES = 16 * 1024;

  /** Bounds the headers of a head, and the trailers of a body. */
  private static final int MAX_HEADERS = 100;

  /** Half of the memory of a header, because the held bytes are doubled. */
  private static final int BYTES_PER_HEADER = 64;

  /** The buffer of Netty's decoder grows to its longest line, and never shrinks. */
  private static final int MAX_KEPT_BYTES = 4 * 1024;

  /** The method and target of a head without a first line; no well-formed target is the same. */
  private static final String NONE = "-";

  private static final short CRLF = HttpConstants.CR << 8 | HttpConstants.LF;

  private final RequestSequence sequence;
  private boolean isBetweenRequests = true;
  private @Nullable String fault; // of the head
  private int headers; // or trailers
  private @Nullable AsciiString lastName; // of a header or trailer

  /** The bytes of lines and headers since the last head or part of a body. */
  private int lineBytes;

  /** The most of these in the current request. */
  private int keptBytes;

  RequestDecoder(RequestSequence sequence) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_HEAD_PART_BYTES)
            .setMaxHeaderSize(MAX_HEAD_PART_BYTES));
    this.sequence = sequence;
  }

  /** Returns the memory of the request's lines, decoded, in the buffer of Netty, and received. */
  int heldBytes() {
    return 2 * Math.max(keptBytes, lineBytes) + actualReadableBytes();
  }

  /** Returns whether a request is not decoded to its end, or has arrived in part. */
  boolean isBegun() {
    return !isBetweenRequests || actualReadableBytes() > 0;
  }

  /** Decodes what has arrived during the answer to the last request. */
  void resume(ChannelPipeline pipeline) {
    ChannelHandlerContext context = pipeline.context(this);
    if (context == null) { // after the end of the connection
      return;
    }
    try {
      channelRead(context, Unpooled.EMPTY_BUFFER);
      channelReadComplete(context);
    } catch (Exception e) {
      context.fireExceptionCaught(e);
    }
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded)
      throws Exception {
    if (!sequence.isDecoding() || (isBetweenRequests && !begins(bytes))) {
      return;
    }
    lineBytes -= bytes.readerIndex();
    super.decode(context, bytes, decoded);
    lineBytes += bytes.readerIndex();
    if (!decoded.isEmpty()) {
      end(context, decoded.get(decoded.size() - 1));
    }
  }

  /** Lines of a body are read and forgotten, but a long one remains in Netty's buffer. */
  private void end(ChannelHandlerContext context, Object last) {
    int contentBytes = last instanceof HttpContent part ? part.content().readableBytes() : 0;
    keptBytes = Math.max(keptBytes, lineBytes - contentBytes);
    lineBytes = 0;
    explain((HttpObject) last);
    isBetweenRequests = last instanceof LastHttpContent;
    if (isBetweenRequests && keptBytes > MAX_KEPT_BYTES) {
      sequence.replaceDecoder(context);
    }
  }

  /** Replaces the cause of a malformed head or body by a refusal, whose message explains it. */
  private void explain(HttpObject last) {
    Throwable cause = last.decoderResult().cause();
    if (cause != null && !(cause instanceof RefusedException)) {
      String otherwise = last instanceof Exchange head ? faultOf(head) : MalformedRequest.TRAILERS;
      String sentence = fault == null ? MalformedRequest.ofDecoder(cause, otherwise) : fault;
      last.setDecoderResult(DecoderResult.failure(malformed(sentence)));
    }
  }

  private String faultOf(Exchange head) {
    AsciiString refused = headers > head.headers().size() ? lastName : null;
    return head.path().equals(NONE)
        ? MalformedRequest.FIRST_LINE
        : MalformedRequest.ofHeaders(head.headers(), refused);
  }

  private static RefusedException malformed(String sentence) {
    return new RefusedException(ErrorNumber.MALFORMED_REQUEST, sentence);
  }

  /** Skips empty lines (RFC 9112, section 2.2), and returns whether a request begins after them. */
  private boolean begins(ByteBuf bytes) {
    while (bytes.readableBytes() > 1 && bytes.getShort(bytes.readerIndex()) == CRLF) {
      bytes.skipBytes(2);
    }
    isBetweenRequests = bytes.readableBytes() < 2;
    fault =
        isBetweenRequests ? null : MalformedRequest.ofBeginning(bytes.getByte(bytes.readerIndex()));
    headers = 0;
    lineBytes = 0;
    keptBytes = 0;
    return !isBetweenRequests;
  }

  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    if (fault == null) {
      fault = RequestHead.faultOfFirstLine(line, start + length);
    }
    return super.splitThirdWordInitialLine(line, start, length);
  }

  @Override
  protected HttpMessage createMessage(String[] firstLine) {
    return new Exchange(
        // The answer will have the same version.
        fault == null ? HttpVersion.valueOf(firstLine[2]) : HttpVersion.HTTP_1_1,
        HttpMethod.valueOf(firstLine[0]),
        firstLine[1],
        headersFactory.newHeaders());
  }

  @Override
  protected HttpMessage createInvalidMessage() {
    return new Exchange(
        HttpVersion.HTTP_1_1, HttpMethod.valueOf(NONE), NONE, headersFactory.newHeaders());
  }

  /** Called for each header and each trailer. */
  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    headers++;
    lineBytes += BYTES_PER_HEADER;
    if (headers > MAX_HEADERS) {
      throw malformed(
          "There are more than " + MAX_HEADERS + " headers or trailers; leave some out.");
    }
    lastName = super.splitHeaderName(line, start, length);
    return lastName;
  }

  /**
   * Called at the end of each head. More bytes were read than its lines have if a header is folded,
   * whose lines Netty joins.
   */
  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage head) {
    HttpMessageDecoderResult sizes = (HttpMessageDecoderResult) head.decoderResult();
    int ends = 2 * (1 + headers + 1); // CRLF of the first line, of headers, and of the empty line
    int expectedBytes =
        sizes.initialLineLength() + sizes.headerSize() + ends + headers * BYTES_PER_HEADER;
    headers = 0;
    if (fault == null) {
      fault =
          lineBytes + internalBuffer().readerIndex() == expectedBytes
              ? RequestHead.faultOf((HttpRequest) head)
              : MalformedRequest.FOLDED;
    }
    if (fault != null) {
      throw malformed(fault); // Netty drops all further input
    }
    return false;
  }
}
