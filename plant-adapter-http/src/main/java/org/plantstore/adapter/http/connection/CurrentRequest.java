package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * What the handlers of a connection know together: its last request, and what is read next. It
 * changes from
 *
 * <ul>
 *   <li>HEAD to BODY when a well-formed head with a body has arrived, to END without a body if the
 *       connection is not kept alive ({@link MalformedRequests});
 *   <li>BODY to HEAD or END with the body's last part, or to REFUSED_BODY without memory for a part
 *       ({@link BodyMemory});
 *   <li>BODY to REFUSED_BODY if the answer begins before the body has ended, HEAD to END if it
 *       begins in the drain, REFUSED_BODY to END with the last part ({@link ConnectionEnd});
 *   <li>any to END if a part is malformed ({@link MalformedRequests}) or a handler fails ({@link
 *       FailedConnections}).
 * </ul>
 *
 * Used by the connection's event loop only.
 */
final class CurrentRequest {

  /** What a connection reads next. */
  enum Part {
    HEAD,
    BODY,
    /**
     * A body whose request is refused: dropped, because closing a connection with unread input
     * resets it, and loses the answer (RFC 9112, section 9.6).
     */
    REFUSED_BODY,
    /** Nothing: input is dropped, and the connection is closed after the answer. */
    END
  }

  private Part next = Part.HEAD;
  private @Nullable Exchange exchange;
  private RequestDecoder decoder = new RequestDecoder(this);

  /** Returns the decoder of the connection, which is replaced after a large head. */
  RequestDecoder decoder() {
    return decoder;
  }

  Part next() {
    return next;
  }

  /** Returns the request until it is answered, or null. */
  @Nullable Exchange exchange() {
    return exchange;
  }

  /** Returns whether a whole request is not answered yet, so that the next is not decoded. */
  boolean isAnswering() {
    return exchange != null && next == Part.HEAD;
  }

  /** Returns whether the client has not sent all of a request, although it is read. */
  boolean isUnfinished() {
    return next == Part.BODY
        || next == Part.REFUSED_BODY
        || (next == Part.HEAD && !decoder.isPaused() && decoder.isLineBegun());
  }

  void begin(Exchange head) {
    exchange = head;
  }

  /** Records that the head is well-formed. */
  void endHead(Exchange head) {
    boolean hasBody =
        HttpUtil.getContentLength(head, 0L) > 0 || HttpUtil.isTransferEncodingChunked(head);
    next = hasBody ? Part.BODY : afterBody(head);
  }

  /** Records that the last part of the body has arrived. */
  void endBody(Exchange head) {
    next = afterBody(head);
  }

  private static Part afterBody(Exchange head) {
    // As in the framework, keep-alive of HTTP/1.0 is ignored.
    boolean isLast = !HttpUtil.isKeepAlive(head) || !head.protocolVersion().isKeepAliveDefault();
    return isLast ? Part.END : Part.HEAD;
  }

  /** Replaces the decoder, which gets what the old one has not decoded. */
  void replaceDecoder(ChannelHandlerContext context) {
    decoder = new RequestDecoder(this);
    context.pipeline().replace(context.handler(), context.name(), decoder);
  }

  /** Lets the rest of the body be dropped, and the connection be closed after the answer. */
  void refuseBody(boolean isEnd) {
    next = isEnd ? Part.END : Part.REFUSED_BODY;
  }

  /** Lets the connection be closed after the answer. */
  void end() {
    next = Part.END;
  }

  /** Records that the last part of the answer is being written. */
  void answer() {
    exchange = null;
  }

  /** Returns the head of the final answer, unless the message is another part of an answer. */
  static @Nullable HttpResponse finalHead(Object message) {
    return message instanceof HttpResponse head
            && head.status().codeClass() != HttpStatusClass.INFORMATIONAL
        ? head
        : null;
  }

  /** Returns whether a message is the last part of the final answer. */
  static boolean isLastPart(Object message) {
    return message instanceof LastHttpContent
        && (!(message instanceof HttpResponse) || finalHead(message) != null);
  }
}
