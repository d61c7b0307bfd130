package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.util.List;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Decodes {@link Exchange}s. In addition to Netty's checks, bounds the number of headers, because a
 * header takes many times its bytes, and refuses what a proxy may interpret differently: folded
 * lines, blanks before the first line, and what {@link RequestHead} refuses. One per connection,
 * until a large head replaces it; used by the connection's event loop only.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** Bounds the first line, and all headers together. */
  private static final int MAX_HEAD_PART_BYTES = 16 * 1024;

  /** Bounds the headers of a head, and the trailers of a body. */
  private static final int MAX_HEADERS = 100;

  /** Half of the objects of a header. */
  private static final int BYTES_PER_HEADER = 64;

  /** The buffer of Netty's decoder grows to its longest line, and never shrinks. */
  private static final int MAX_KEPT_BYTES = 4 * 1024;

  private static final short CRLF = HttpConstants.CR << 8 | HttpConstants.LF;

  private final RequestSequence sequence;
  private boolean isBetweenRequests = true;
  private boolean isInHead;
  private boolean isMalformed;
  private int headers; // or trailers
  private int lineBytes;

  /** Where the lines begin that are being decoded. */
  private ByteBuf lines = Unpooled.EMPTY_BUFFER;

  private int linesFrom;

  /** Creates a decoder. During an answer, the next request stays bytes, which take less memory. */
  RequestDecoder(RequestSequence sequence) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_HEAD_PART_BYTES)
            .setMaxHeaderSize(MAX_HEAD_PART_BYTES));
    this.sequence = sequence;
  }

  /** Returns the memory of the request's lines, decoded, in the buffer of Netty, and received. */
  int heldBytes() {
    return 2 * (lineBytes + BYTES_PER_HEADER * headers) + actualReadableBytes();
  }

  /** Returns whether a part of a head, or of a line, has arrived. */
  boolean isBegun() {
    return isInHead || actualReadableBytes() > 0;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded)
      throws Exception {
    if (sequence.isAnswering() || (isBetweenRequests && !isAtLine(bytes))) {
      return;
    }
    lines = bytes;
    linesFrom = bytes.readerIndex();
    super.decode(context, bytes, decoded);
    lineBytes += bytes.readerIndex() - linesFrom;
    if (!decoded.isEmpty()) {
      end(context, decoded);
    } else if (isInHead) {
      isMalformed |= RequestHead.isFolded(lines, linesFrom);
    }
  }

  /**
   * Skips empty lines before a request (RFC 9112, section 2.2), as which Netty takes all blanks.
   */
  private boolean isAtLine(ByteBuf bytes) {
    while (bytes.readableBytes() > 1 && bytes.getShort(bytes.readerIndex()) == CRLF) {
      bytes.skipBytes(2);
    }
    byte first = bytes.isReadable() ? bytes.getByte(bytes.readerIndex()) : HttpConstants.CR;
    if (first == HttpConstants.CR && bytes.readableBytes() <= 1) {
      return false;
    }
    isMalformed |= first <= ' '; // also if it is not ASCII
    return true;
  }

  private void end(ChannelHandlerContext context, List<Object> decoded) {
    isInHead = false;
    if (decoded.get(0) instanceof Exchange head && head.decoderResult().isFailure()) {
      head.refuse();
    }
    if (decoded.get(decoded.size() - 1) instanceof HttpContent part) {
      lineBytes -= part.content().readableBytes();
      isBetweenRequests = part instanceof LastHttpContent;
    }
    if (isBetweenRequests && lineBytes > MAX_KEPT_BYTES) {
      sequence.replaceDecoder(context);
    }
  }

  @Override
  protected HttpMessage createMessage(String[] firstLine) {
    isBetweenRequests = false;
    isInHead = true;
    headers = 0;
    lineBytes = 0;
    return new Exchange(
        // The answer will have the same version.
        isMalformed ? HttpVersion.HTTP_1_1 : HttpVersion.valueOf(firstLine[2]),
        HttpMethod.valueOf(firstLine[0]),
        firstLine[1],
        headersFactory.newHeaders());
  }

  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    AsciiString firstLine = new AsciiString(line, 0, start + length, false);
    isMalformed |= !RequestHead.FIRST_LINE.matcher(firstLine).matches();
    return super.splitThirdWordInitialLine(line, start, length);
  }

  @Override
  protected HttpMessage createInvalidMessage() {
    return new Exchange(
        HttpVersion.HTTP_1_1, HttpMethod.valueOf("-"), "-", headersFactory.newHeaders());
  }

  /** Called for each header and each trailer. */
  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    headers++;
    if (headers > MAX_HEADERS) {
      throw new TooLongFrameException("more than " + MAX_HEADERS + " headers");
    }
    return super.splitHeaderName(line, start, length);
  }

  /** Called at the end of each head. After an exception, Netty drops all further input. */
  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage head) {
    isMalformed |= RequestHead.isFolded(lines, linesFrom);
    lineBytes += BYTES_PER_HEADER * headers;
    headers = 0;
    if (isMalformed || !RequestHead.isWellFormed((HttpRequest) head)) {
      throw new IllegalArgumentException("a malformed head");
    }
    return false;
  }
}
