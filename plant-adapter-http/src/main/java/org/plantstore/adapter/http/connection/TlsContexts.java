package org.plantstore.adapter.http.connection;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.http.netty.NettySslContextBuilder;
import io.micronaut.http.server.netty.ssl.NettyServerSslFactory;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import jakarta.inject.Singleton;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;

/** TLS 1.3, and 1.2 with forward secrecy (RFC 9325), for HTTP/1.1 only. */
@Singleton
@Replaces(NettyServerSslFactory.class)
final class TlsContexts extends NettyServerSslFactory {

  @Override
  public NettySslContextBuilder serverBuilder() {
    return new NettySslContextBuilder(true) {
      @Override
      public SslContext buildTcp() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(createKeyManagerFactory().getKeyManagers(), new TrustManager[0], null);
        return contextOf(context);
      }
    };
  }

  private static SslContext contextOf(SSLContext context) {
    return new JdkSslContext(
        context,
        false,
        Http2SecurityUtil.CIPHERS,
        SupportedCipherSuiteFilter.INSTANCE,
        new ApplicationProtocolConfig(
            Protocol.ALPN,
            SelectorFailureBehavior.NO_ADVERTISE,
            SelectedListenerFailureBehavior.ACCEPT,
            ApplicationProtocolNames.HTTP_1_1),
        ClientAuth.NONE,
        new String[] {"TLSv1.3", "TLSv1.2"},
        false) {
      @Override
      protected SslHandler newHandler(ByteBufAllocator allocator, boolean startTls) {
        return new TlsHandler(newEngine(allocator));
      }
    };
  }

  /** One per connection, used by its event loop only. */
  static final class TlsHandler extends SslHandler {

    private TlsHandler(SSLEngine engine) {
      super(engine);
    }

    /** Returns whether the handshake, or a record, is incomplete. */
    boolean isUnfinished() {
      return !handshakeFuture().isDone() || actualReadableBytes() > 0;
    }
  }
}
