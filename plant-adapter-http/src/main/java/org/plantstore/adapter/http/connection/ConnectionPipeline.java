package org.plantstore.adapter.http.connection;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.MultithreadEventExecutorGroup;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.plantstore.adapter.http.connection.TlsContexts.TlsHandler;
import org.plantstore.adapter.http.observe.AllowedOrigins;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Installs the handlers of this package on every listener and connection. Input passes them in this
 * order, output in the reverse: {@link RequestTimeout}, TLS, {@link RequestDecoder}, {@link
 * ConnectionEnd}, {@link RequestSequence}, {@link MalformedRequests}, {@link BodyMemory}, {@link
 * FailedConnections}, the framework. Thread-safe.
 */
@Singleton
final class ConnectionPipeline
    implements BeanCreatedEventListener<NettyServerCustomizer.Registry>, NettyServerCustomizer {

  private static final String CODEC = ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC;

  /** Writing stops when more than 2 KiB of answers are unread, and resumes below 1 KiB. */
  private static final WriteBufferWaterMark UNREAD = new WriteBufferWaterMark(1024, 2 * 1024);

  private final BodyBudget bodies;
  private final ConnectionLimit limit;
  private final Drain drain;
  private final Consumer<Exchange> exchanges;
  private final AllowedOrigins origins;
  private final Duration requestTimeout;
  private final Map<EventLoop, SlowClients> slowClients = new ConcurrentHashMap<>();

  ConnectionPipeline(
      BodyBudget bodies,
      ConnectionLimit limit,
      Drain drain,
      Consumer<Exchange> exchanges,
      AllowedOrigins origins,
      @Property(name = "request.timeout.seconds") long requestTimeoutSeconds) {
    this.bodies = bodies;
    this.limit = limit;
    this.drain = drain;
    this.exchanges = exchanges;
    this.origins = origins;
    this.requestTimeout = Duration.ofSeconds(requestTimeoutSeconds);
  }

  @Override
  public NettyServerCustomizer.Registry onCreated(
      BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
    event.getBean().register(this);
    return event.getBean();
  }

  @Override
  public NettyServerCustomizer specializeForChannel(Channel channel, ChannelRole role) {
    if (role == ChannelRole.LISTENER) {
      drain.addListener(channel);
      channel.pipeline().addFirst(limit);
      return this;
    }
    return new NettyServerCustomizer() {
      @Override
      public void onStreamPipelineBuilt() {
        install(channel);
      }
    };
  }

  private void install(Channel connection) {
    drain.addConnection(connection);
    connection
        .config()
        // The largest read bounds the pipelined requests of a connection.
        .setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator(64, 2 * 1024, 8 * 1024))
        .setWriteBufferWaterMark(UNREAD);
    // Exchanges at the management port are neither measured nor logged.
    boolean isManagement = limit.isManagement(connection);
    Consumer<Exchange> ended = isManagement ? probe -> {} : exchanges;
    AllowedOrigins readers = isManagement ? AllowedOrigins.NONE : origins;
    CurrentRequest current = new CurrentRequest();
    ChannelPipeline pipeline = connection.pipeline();
    TlsHandler tls = pipeline.get(TlsHandler.class);
    SlowClients neighbours = slowClientsOf(connection.eventLoop());
    pipeline.replace(HttpServerCodec.class, CODEC, current.decoder());
    pipeline
        .addFirst("request-timeout", new RequestTimeout(connection, tls, current, neighbours))
        .addAfter(CODEC, "failed-connections", new FailedConnections(current))
        .addAfter(CODEC, "body-memory", new BodyMemory(current, bodies))
        .addAfter(CODEC, "malformed-requests", new MalformedRequests(current))
        .addAfter(CODEC, "request-sequence", new RequestSequence(current, readers, ended))
        .addAfter(CODEC, "connection-end", new ConnectionEnd(current, drain::hasBegun))
        .addAfter(CODEC, "encoder", new HttpResponseEncoder());
  }

  private SlowClients slowClientsOf(EventLoop eventLoop) {
    int eventLoops = ((MultithreadEventExecutorGroup) eventLoop.parent()).executorCount();
    return slowClients.computeIfAbsent(
        eventLoop, loop -> new SlowClients(loop, eventLoops, requestTimeout));
  }
}
