package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;

/** What a connection reads next. */
enum ReadState {
  /** The head of a request. */
  HEAD,
  /** A part of a body whose client waits for 100 (Continue). */
  EXPECTED_BODY,
  /** A part of a body. */
  BODY,
  /** A part of a body whose request is already answered: dropped, and then the end. */
  REFUSED_BODY,
  /** Nothing: input is dropped, and the connection is closed after the answer. */
  END;

  static ReadState afterHead(HttpRequest head) {
    if (HttpUtil.getContentLength(head, 0L) > 0 || HttpUtil.isTransferEncodingChunked(head)) {
      return HttpUtil.is100ContinueExpected(head) ? EXPECTED_BODY : BODY;
    }
    return afterBody(head);
  }

  static ReadState afterBody(HttpRequest head) {
    return HttpUtil.isKeepAlive(head) ? HEAD : END;
  }

  ReadState afterAnswer(boolean isDraining) {
    return switch (this) {
      case HEAD -> isDraining ? END : HEAD;
      // The client may send the body nevertheless (RFC 9110, section 10.1.1).
      case EXPECTED_BODY -> END;
      case BODY -> REFUSED_BODY;
      case REFUSED_BODY, END -> this;
    };
  }
}
