package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Decodes {@link Exchange}s. In addition to Netty's checks, bounds the number of headers, because a
 * header takes many times its bytes, and refuses what a proxy may interpret differently: other
 * blanks than single spaces in the first line, CR or LF alone, folded lines, and malformed
 * extensions of chunks. One per connection, used by its event loop only.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** Bounds the first line, and all headers together. */
  static final int MAX_HEAD_PART_BYTES = 16 * 1024;

  /** Bounds the headers of a head, and the trailers of a body. */
  private static final int MAX_HEADERS = 100;

  /** The objects of a header, in addition to its bytes. */
  private static final int BYTES_PER_HEADER = 128;

  /** The buffer of Netty's decoder grows to its longest line, and never shrinks. */
  private static final int MAX_KEPT_BYTES = 4 * 1024;

  /** The size of a chunk, and its extensions (RFC 9112, section 7.1.1). */
  private static final Pattern CHUNK =
      Pattern.compile(
          "0*([0-9A-Fa-f]{1,8})(?: ; TOKEN(?: = (?:TOKEN|QUOTED))?)*+\r\n"
              .replace(" ", "[\t ]*+")
              .replace("TOKEN", "[!#$%&'*+.^_`|~0-9A-Za-z-]++")
              .replace("QUOTED", "\"(?:[\t !#-\\[\\]-~\\x80-\\xFF]|\\\\[\t -~\\x80-\\xFF])*+\""));

  private final CurrentRequest current;
  private boolean isInHead;
  private boolean isChunked; // until the last chunk
  private long contentBytes; // left of a fixed body, or of a chunk with its size line and its CRLF
  private byte lastByte = '\n'; // of the lines of heads and trailers
  private boolean isMalformed;
  private int headers; // or trailers
  private int allHeaders;
  private int lineBytes;

  /** Creates a decoder. During an answer, the next request stays bytes, which take less memory. */
  RequestDecoder(CurrentRequest current) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_HEAD_PART_BYTES)
            .setMaxHeaderSize(MAX_HEAD_PART_BYTES));
    this.current = current;
  }

  /** Returns the memory of the request's lines, decoded, in the buffer of Netty, and received. */
  int heldBytes() {
    return 2 * lineBytes + BYTES_PER_HEADER * allHeaders + actualReadableBytes();
  }

  /** Returns whether a pipelined request waits, so that nothing is read. */
  boolean isPaused() {
    return current.isAnswering() && isLineBegun();
  }

  /** Returns whether a part of a head, or of a chunk's first line, has arrived. */
  boolean isLineBegun() {
    return isInHead || actualReadableBytes() > 0;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded)
      throws Exception {
    if (current.isAnswering()) {
      return;
    }
    if (isChunked && contentBytes == 0) {
      beginChunk(bytes);
    }
    int from = bytes.readerIndex();
    super.decode(context, bytes, decoded);
    if (contentBytes > 0) {
      contentBytes -= bytes.readerIndex() - from;
    } else {
      readLines(bytes, from, decoded);
    }
    boolean isWhole =
        !decoded.isEmpty() && decoded.get(decoded.size() - 1) instanceof LastHttpContent;
    if (isWhole && lineBytes > MAX_KEPT_BYTES) {
      current.replaceDecoder(context);
    }
  }

  private void readLines(ByteBuf bytes, int from, List<Object> decoded) {
    lineBytes += bytes.readerIndex() - from;
    for (int at = from; at < bytes.readerIndex(); at++) {
      byte next = bytes.getByte(at);
      boolean isCrOrLfAlone = (lastByte == '\r') != (next == '\n');
      boolean isFolded = lastByte == '\n' && next <= ' ' && next != '\r'; // also if it is not ASCII
      isMalformed |= isCrOrLfAlone || isFolded;
      lastByte = next;
    }
    if (!decoded.isEmpty()) {
      endLines((HttpObject) decoded.get(0));
    }
  }

  /** Cuts {@code 5;a=b\r\n} to {@code 5\r\n} in place, or makes a malformed line unreadable. */
  private void beginChunk(ByteBuf bytes) {
    int from = bytes.readerIndex();
    int length = bytes.bytesBefore((byte) '\n') + 1; // 0 if the line is incomplete
    Matcher line = CHUNK.matcher(bytes.toString(from, length, StandardCharsets.ISO_8859_1));
    if (line.matches()) {
      String size = line.group(1) + "\r\n";
      bytes.skipBytes(length - size.length());
      bytes.setCharSequence(bytes.readerIndex(), size, StandardCharsets.ISO_8859_1);
      long chunkBytes = Long.parseLong(line.group(1), 16);
      isChunked = chunkBytes > 0;
      contentBytes = isChunked ? size.length() + chunkBytes + 2 : 0;
    } else if (length > 1) { // Netty refuses LF alone
      bytes.setByte(from, 0);
    }
  }

  /** Called with a head, or with the end of a chunked body. */
  private void endLines(HttpObject decoded) {
    isInHead = false;
    headers = 0;
    if (isMalformed) {
      decoded.setDecoderResult(
          DecoderResult.failure(new IllegalArgumentException("a malformed line")));
      isMalformed = false;
    } else if (decoded instanceof Exchange head && head.decoderResult().isSuccess()) {
      isChunked = HttpUtil.isTransferEncodingChunked(head);
      contentBytes = HttpUtil.getContentLength(head, 0L);
    }
  }

  @Override
  protected HttpMessage createMessage(String[] firstLine) {
    isInHead = true;
    lineBytes = 0;
    allHeaders = 0;
    return new Exchange(
        HttpVersion.valueOf(firstLine[2]),
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
    allHeaders++;
    if (headers > MAX_HEADERS) {
      throw new TooLongFrameException("more than " + MAX_HEADERS + " headers");
    }
    return super.splitHeaderName(line, start, length);
  }
}
