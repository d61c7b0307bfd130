package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * What the handlers of a connection know together: its last request, and what is read next. Only
 * these methods change it:
 *
 * <ul>
 *   <li>A head arrives: {@link RequestSequence} begins; {@link MalformedRequests} ends the head, or
 *       the connection.
 *   <li>The last part of a body arrives: {@link BodyMemory} ends the body, or refuses it.
 *   <li>The answer begins before the body has ended: {@link ConnectionEnd} refuses the body.
 *   <li>The last part of the answer is written: {@link RequestSequence} ends the request.
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
