package org.plantstore.adapter.http.connection;

import io.netty.handler.ssl.SslHandler;
import javax.net.ssl.SSLEngine;

/** Netty's handler of TLS, which says when it waits. One per connection, used by its event loop alone. */
final class TlsHandler extends SslHandler {

  TlsHandler(SSLEngine engine) {
    super(engine);
  }

  /** Returns whether the handshake, or a record of which a part is kept, still has to come. */
  boolean isAwaitingClient() {
    return actualReadableBytes() > 0 || !handshakeFuture().isDone();
  }
}
