package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;

/** The part of a request that a connection reads next. */
enum ReadState {
  HEAD,
  BODY,
  /**
   * A body whose request is refused: dropped, because closing a connection with unread input resets
   * it, and loses the answer (RFC 9112, section 9.6).
   */
  REFUSED_BODY,
  /** Nothing: input is dropped, and the connection is closed after the answer. */
  END;

  static ReadState afterHead(HttpRequest head) {
    boolean hasBody =
        HttpUtil.getContentLength(head, 0L) > 0 || HttpUtil.isTransferEncodingChunked(head);
    return hasBody ? BODY : afterBody(head);
  }

  static ReadState afterBody(HttpRequest head) {
    // As in the framework, keep-alive of HTTP/1.0 is ignored.
    return HttpUtil.isKeepAlive(head) && head.protocolVersion().isKeepAliveDefault() ? HEAD : END;
  }

  ReadState afterAnswer(boolean isDraining) {
    return switch (this) {
      case HEAD -> isDraining ? END : HEAD;
      case BODY -> REFUSED_BODY;
      case REFUSED_BODY, END -> this;
    };
  }
}
