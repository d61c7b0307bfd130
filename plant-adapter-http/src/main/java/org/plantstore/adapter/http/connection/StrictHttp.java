package org.plantstore.adapter.http.connection;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.micronaut.http.server.netty.configuration.NettyHttpServerConfiguration;
import io.micronaut.json.JsonMapper;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorMessage;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.observe.Exchanges;
import org.plantstore.adapter.http.observe.UnansweredExchanges;

/**
 * Puts on every connection a {@link ConnectionDeadline}, a {@link StrictCodec} in place of the
 * framework's, a {@link StrictHttpHandler} and a {@link BodyMemoryHandler}.
 */
@Singleton
final class StrictHttp implements BeanCreatedEventListener<NettyServerCustomizer.Registry> {

  private static final String CODEC = ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC;

  private final byte[] malformedRequest;
  private final long maxBodyBytes;
  private final Duration requestTimeout;
  private final Draining draining;
  private final Exchanges exchanges;
  private final ClientMemory clientMemory;
  private final NettyHttpServerConfiguration server;

  StrictHttp(
      JsonMapper json,
      NettyHttpServerConfiguration server,
      @Property(name = "request.timeout.seconds") long requestTimeoutSeconds,
      Draining draining,
      Exchanges exchanges,
      ClientMemory clientMemory) {
    ErrorNumber number = ErrorNumber.MALFORMED_REQUEST;
    try {
      this.malformedRequest =
          json.writeValueAsBytes(new ErrorMessage(number.number(), number.description()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.maxBodyBytes = server.getMaxRequestSize();
    this.requestTimeout = Duration.ofSeconds(requestTimeoutSeconds);
    this.draining = draining;
    this.exchanges = exchanges;
    this.clientMemory = clientMemory;
    this.server = server;
  }

  private HttpDecoderConfig decoderConfig() {
    return new HttpDecoderConfig()
        .setMaxInitialLineLength(server.getMaxInitialLineLength())
        .setMaxHeaderSize(server.getMaxHeaderSize())
        .setMaxChunkSize(server.getMaxChunkSize())
        .setInitialBufferSize(server.getInitialBufferSize());
  }

  @Override
  public NettyServerCustomizer.Registry onCreated(
      BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
    event.getBean().register(new OnEveryConnection(null));
    return event.getBean();
  }

  private final class OnEveryConnection implements NettyServerCustomizer {

    private final @Nullable Channel channel;

    OnEveryConnection(@Nullable Channel channel) {
      this.channel = channel;
    }

    @Override
    public NettyServerCustomizer specializeForChannel(Channel newChannel, ChannelRole role) {
      return new OnEveryConnection(newChannel);
    }

    @Override
    public void onStreamPipelineBuilt() {
      if (channel != null) {
        ConnectionDeadline deadline = new ConnectionDeadline(requestTimeout, clientMemory);
        UnansweredExchanges unanswered = exchanges.of(channel);
        RequestDecoder decoder = new RequestDecoder(decoderConfig(), deadline, unanswered);
        StrictHttpHandler strictHttp =
            new StrictHttpHandler(malformedRequest, maxBodyBytes, decoder, draining, unanswered);
        channel.config().setWriteBufferWaterMark(ConnectionDeadline.UNREAD);
        channel
            .pipeline()
            .replace(HttpServerCodec.class, CODEC, new StrictCodec(decoder, unanswered));
        channel
            .pipeline()
            .addBefore(CODEC, "connection-deadline", deadline)
            .addAfter(CODEC, "strict-http", strictHttp)
            .addBefore(
                ChannelPipelineCustomizer.HANDLER_MICRONAUT_INBOUND,
                "body-memory",
                new BodyMemoryHandler(unanswered));
      }
    }
  }
}
