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
 * the number of headers, because the objects that represent a header take far more memory than its
 * text. The decoder also rejects input that a proxy might interpret differently: folded headers, a
 * lone CR or LF before the request line, and anything that violates the rules checked by {@link
 * MalformedRequest}. Input that arrives during a response is decoded after that response, because
 * input takes less memory before it is decoded. A decoder is replaced after a large request,
 * because Netty's line buffer never shrinks. Used only by the connection's event loop.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /**
   * The maximum number of bytes in the request line. The same limit applies to the total size of
   * the headers.
   */
  private static final int MAX_PART_BYTES = 16 * 1024;

  /** The maximum number of headers in a request. The same limit applies to trailers. */
  private static final int MAX_HEADERS = 100;

  /** The decoder is replaced after each request that is larger than this number of bytes. */
  private static final int MAX_KEPT_BYTES = 4 * 1024;

  /** A placeholder for the method and target of a malformed request line; not a valid target. */
  private static final String NONE = "-";

  private static final short CRLF = HttpConstants.CR << 8 | HttpConstants.LF;

  private final Connection connection;
  private boolean isBetweenRequests = true;
  private @Nullable String fault; // set before Netty has decoded the malformed object
  private int headers; // the number of headers or trailers received so far

  /** The number of decoded bytes of the current request. */
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
        objectsDecoded(context, decoded);
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

  /** Rejects a malformed object, and drops the decoded objects that follow it. */
  private void objectsDecoded(ChannelHandlerContext context, List<Object> decoded) {
    for (int index = 0; index < decoded.size(); index++) {
      HttpObject object = (HttpObject) decoded.get(index);
      String message = object instanceof RequestRecord request ? ofHead(request) : ofBody(object);
      if (message != null) {
        object.setDecoderResult(
            DecoderResult.failure(new RefusedException(ErrorNumber.MALFORMED_REQUEST, message)));
        decoded.subList(index + 1, decoded.size()).clear();
      }
    }
    HttpObject last = (HttpObject) decoded.get(decoded.size() - 1);
    isBetweenRequests = last instanceof LastHttpContent;
    // A decoder that has received malformed input must not be replaced, because it has to discard
    // all further input.
    if (isBetweenRequests && last.decoderResult().isSuccess() && requestBytes > MAX_KEPT_BYTES) {
      context.pipeline().replace(this, context.name(), new RequestDecoder(connection));
    }
  }

  /**
   * Returns the error message, or null if the request line and the headers are well-formed. Netty
   * joins the lines of a folded header without reporting an error. To detect a folded header, this
   * method compares the number of received bytes with the total length of the decoded lines.
   */
  private @Nullable String ofHead(RequestRecord request) {
    int lines = 1 + headers + 1; // the request line, the headers, and the empty line
    headers = 0;
    if (fault != null) {
      return fault;
    }
    if (request.decoderResult() instanceof HttpMessageDecoderResult sizes) {
      return requestBytes == sizes.totalSize() + 2 * lines
          ? MalformedRequest.ofHeaders(request)
          : MalformedRequest.HEADERS;
    }
    boolean isLine = request.path().equals(NONE);
    return MalformedRequest.ofDecoder(
        request.decoderResult().cause(),
        isLine ? MalformedRequest.REQUEST_LINE : MalformedRequest.HEADERS);
  }

  private @Nullable String ofBody(HttpObject part) {
    if (part.decoderResult().isSuccess()) {
      return null;
    }
    return fault == null ? MalformedRequest.BODY : fault;
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
        // The version must be valid, because the framework copies it to the response.
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
      fault = "The request has more than " + MAX_HEADERS + " headers or trailers; remove some.";
      throw new IllegalArgumentException(fault); // makes Netty discard all further input
    }
    return super.splitHeaderName(line, start, length);
  }
}
