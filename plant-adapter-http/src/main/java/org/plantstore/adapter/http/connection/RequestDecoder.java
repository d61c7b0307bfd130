package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.util.List;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Decodes {@link Exchange}s. In addition to Netty's checks, bounds the number of headers, because a
 * header takes many times its bytes, and refuses folded lines, which a proxy may interpret
 * differently (RFC 9112, section 5.2). One per connection, used by its event loop only.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** Bounds the first line, and all headers together. */
  static final int MAX_HEAD_PART_BYTES = 16 * 1024;

  /** Bounds the headers of a head, and the trailers of a body. */
  private static final int MAX_HEADERS = 100;

  private boolean isInHead;
  private boolean isFolded;
  private int headers;
  private int headBytes;

  RequestDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_HEAD_PART_BYTES)
            .setMaxHeaderSize(MAX_HEAD_PART_BYTES));
  }

  /** Returns the size of the last head, as far as it is decoded. */
  int headBytes() {
    return headBytes;
  }

  /** Returns whether the decoder waits for the rest of a head or of a chunk's first line. */
  boolean isLineBegun() {
    return isInHead || actualReadableBytes() > 0;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded)
      throws Exception {
    int from = bytes.readerIndex();
    int before = decoded.size();
    super.decode(context, bytes, decoded);
    if (isInHead) {
      headBytes += bytes.readerIndex() - from;
      // The bytes that Netty has read are whole lines of the head.
      isFolded |= hasFoldedLine(bytes, from, bytes.readerIndex());
      if (decoded.size() > before) {
        isInHead = false;
        headers = 0;
        if (isFolded) {
          ((Exchange) decoded.get(before))
              .setDecoderResult(DecoderResult.failure(new IllegalArgumentException("folded line")));
        }
      }
    }
  }

  private static boolean hasFoldedLine(ByteBuf bytes, int from, int to) {
    int line = from;
    while (line < to) {
      byte first = bytes.getByte(line);
      if (first == HttpConstants.SP || first == HttpConstants.HT) {
        return true;
      }
      int end = bytes.indexOf(line, to, HttpConstants.LF);
      line = end < 0 ? to : end + 1;
    }
    return false;
  }

  @Override
  protected HttpMessage createMessage(String[] firstLine) {
    isInHead = true;
    isFolded = false;
    headers = 0;
    headBytes = 0;
    return new Exchange(
        HttpVersion.valueOf(firstLine[2]),
        HttpMethod.valueOf(firstLine[0]),
        firstLine[1],
        headersFactory.newHeaders());
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
}
