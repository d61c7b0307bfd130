package org.plantstore.adapter.http;

import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.micronaut.json.JsonMapper;
import io.netty.channel.Channel;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Puts a {@link StrictHttpHandler} on every connection, between the decoder and the framework. */
@Singleton
final class StrictHttp implements BeanCreatedEventListener<NettyServerCustomizer.Registry> {

  private final byte[] malformedRequest;

  StrictHttp(JsonMapper json) {
    ErrorNumber number = ErrorNumber.MALFORMED_REQUEST;
    try {
      this.malformedRequest =
          json.writeValueAsBytes(new ErrorMessage(number.number(), number.description()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
        channel
            .pipeline()
            .addAfter(
                ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC,
                "strict-http",
                new StrictHttpHandler(malformedRequest));
      }
    }
  }
}
