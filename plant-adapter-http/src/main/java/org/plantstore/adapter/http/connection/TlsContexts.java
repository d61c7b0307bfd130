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
import javax.net.ssl.TrustManager;

/** TLS 1.3, and 1.2 with forward secrecy (RFC 9325), for HTTP/1.1 only. */
@Singleton
@Replaces(NettyServerSslFactory.class)
final class TlsContexts extends NettyServerSslFactory {

  private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};

  private static final ApplicationProtocolConfig HTTP_1_1 =
      new ApplicationProtocolConfig(
          Protocol.ALPN,
          SelectorFailureBehavior.NO_ADVERTISE,
          SelectedListenerFailureBehavior.ACCEPT,
          ApplicationProtocolNames.HTTP_1_1);

  @Override
  public NettySslContextBuilder serverBuilder() {
    return new NettySslContextBuilder(true) {
      @Override
      public SslContext buildTcp() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(createKeyManagerFactory().getKeyManagers(), new TrustManager[0], null);
        return new Context(context);
      }
    };
  }

  private static final class Context extends JdkSslContext {

    Context(SSLContext context) {
      super(
          context,
          false,
          Http2SecurityUtil.CIPHERS,
          SupportedCipherSuiteFilter.INSTANCE,
          HTTP_1_1,
          ClientAuth.NONE,
          VERSIONS,
          false);
    }

    @Override
    protected SslHandler newHandler(ByteBufAllocator allocator, boolean startTls) {
      return new TlsHandler(newEngine(allocator));
    }
  }
}
