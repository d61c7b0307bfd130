package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.SlowClients.Wait;

/** What comes next on a connection, and what is done with it. */
enum Input {
  /** The head of a request. */
  HEAD,
  /** A part of a body that the client does not send before it is asked to. */
  EXPECTED_BODY,
  /** A part of a body. */
  BODY,
  /** A part of a body that is answered already: dropped. After it the connection is closed. */
  REFUSED_BODY,
  /** Anything: dropped. The connection is closed after the answer. */
  NONE;

  /** Returns what comes after a head. */
  static Input afterHead(HttpRequest head) {
    if (HttpUtil.getContentLength(head, 0L) > 0 || HttpUtil.isTransferEncodingChunked(head)) {
      return HttpUtil.is100ContinueExpected(head) ? EXPECTED_BODY : BODY;
    }
    return afterBody(head);
  }

  /** Returns what comes after the body of a request. */
  static Input afterBody(HttpRequest head) {
    return HttpUtil.isKeepAlive(head) ? HEAD : NONE;
  }

  /** Returns what comes after the answer to the request that came last. */
  Input afterAnswer(boolean isDraining) {
    return switch (this) {
      case HEAD -> isDraining ? NONE : HEAD;
      // Whether the body follows all the same is up to the client (RFC 9110, section 10.1.1).
      case EXPECTED_BODY -> NONE;
      case BODY -> REFUSED_BODY;
      default -> this;
    };
  }

  /** Returns what the connection waits for, or null if it is idle or ends. */
  @Nullable Wait awaited(boolean isLineBegun) {
    return switch (this) {
      case HEAD -> isLineBegun ? Wait.HEAD : null;
      case EXPECTED_BODY, BODY, REFUSED_BODY -> isLineBegun ? Wait.HEAD : Wait.BODY;
      case NONE -> null;
    };
  }
}
