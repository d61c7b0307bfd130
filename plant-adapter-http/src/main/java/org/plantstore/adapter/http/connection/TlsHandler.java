package org.plantstore.adapter.http.connection;

import io.netty.handler.ssl.SslHandler;
import javax.net.ssl.SSLEngine;

/** Netty's handler of TLS. One per connection, used by its event loop only. */
final class TlsHandler extends SslHandler {

  TlsHandler(SSLEngine engine) {
    super(engine);
  }

  /** Returns whether a part of a record is kept for its end. */
  boolean isRecordBegun() {
    return actualReadableBytes() > 0;
  }
}
