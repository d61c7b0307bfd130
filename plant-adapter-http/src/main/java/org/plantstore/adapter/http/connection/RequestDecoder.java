package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import java.util.Set;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Netty's decoder with the limits of this service: it bounds the number of headers, each of which
 * takes many times its bytes, and refuses other versions and folded header lines (RFC 9112, section
 * 5.2), which a proxy in front may read in another way. Its requests are {@link Exchange}s. One per
 * connection, used by its event loop alone.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** Bounds the first line, and all headers together. */
  static final int MAX_HEAD_PART_BYTES = 16 * 1024;

  private static final int MAX_HEADERS = 100;

  /** RFC 9112, section 2.3: the case of the letters matters. */
  private static final Set<String> VERSIONS = Set.of("HTTP/1.0", "HTTP/1.1");

  private static final HttpHeadersFactory HEADERS =
      new HttpHeadersFactory() {
        @Override
        public HttpHeaders newHeaders() {
          return new BoundedHeaders();
        }

        @Override
        public HttpHeaders newEmptyHeaders() {
          return new BoundedHeaders();
        }
      };

  private boolean isInHead;
  private boolean isMalformed;

  RequestDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_HEAD_PART_BYTES)
            .setMaxHeaderSize(MAX_HEAD_PART_BYTES)
            .setHeadersFactory(HEADERS)
            .setTrailersFactory(HEADERS));
  }

  /** Returns whether a part of a head, or of a line of a body's framing, is kept for its end. */
  boolean isLineBegun() {
    return isInHead || actualReadableBytes() > 0;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded)
      throws Exception {
    int from = bytes.readerIndex();
    boolean isAtLineOfHeader = isInHead;
    int before = decoded.size();
    super.decode(context, bytes, decoded);
    if (!isInHead) {
      return;
    }
    // As long as the decoder is in a head it takes whole lines, and nothing of what is behind.
    isMalformed |= isFolded(bytes, from, bytes.readerIndex(), isAtLineOfHeader);
    if (decoded.size() > before) {
      isInHead = false;
      if (isMalformed) {
        ((Exchange) decoded.get(before))
            .setDecoderResult(
                DecoderResult.failure(new IllegalArgumentException("version or folded line")));
      }
    }
  }

  private static boolean isFolded(ByteBuf bytes, int from, int to, boolean isAtLineOfHeader) {
    boolean isAtStart = isAtLineOfHeader;
    for (int index = from; index < to; index++) {
      byte next = bytes.getByte(index);
      if (isAtStart && (next == ' ' || next == '\t')) {
        return true;
      }
      isAtStart = next == '\n';
    }
    return false;
  }

  /** Called when the first line has been read. */
  @Override
  protected HttpMessage createMessage(String[] firstLine) {
    isInHead = true;
    isMalformed = !VERSIONS.contains(firstLine[2]);
    return new Exchange(
        HttpVersion.valueOf(firstLine[2]),
        HttpMethod.valueOf(firstLine[0]),
        firstLine[1],
        HEADERS.newHeaders());
  }

  @Override
  protected HttpMessage createInvalidMessage() {
    return new Exchange(HttpVersion.HTTP_1_1, HttpMethod.valueOf("-"), "-", HEADERS.newHeaders());
  }

  private static final class BoundedHeaders extends DefaultHttpHeaders {

    @Override
    public HttpHeaders add(CharSequence name, Object value) {
      if (size() == MAX_HEADERS) {
        throw new TooLongFrameException("more than " + MAX_HEADERS + " headers");
      }
      return super.add(name, value);
    }
  }
}
