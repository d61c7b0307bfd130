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
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.TlsContexts.TlsHandler;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Installs the handlers of this package on every connection. Closes connections beyond {@code
 * MAX_CONNECTIONS}, except at the management port, so that probes are always served. Thread-safe.
 */
@Singleton
@Named("drain")
final class ConnectionPipeline
    implements BeanCreatedEventListener<NettyServerCustomizer.Registry>, Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionPipeline.class);
  private static final LogLimit TOO_MANY = new LogLimit();
  private static final String CODEC = ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC;

  /** From 2 KiB of unread answers on nothing more is written, until 1 KiB is left. */
  private static final WriteBufferWaterMark UNREAD = new WriteBufferWaterMark(1024, 2 * 1024);

  private final BodyBudget bodies;
  private final Consumer<Exchange> exchanges;
  private final Duration requestTimeout;
  private final int maxConnections;
  private final int managementPort;
  private final AtomicInteger connections = new AtomicInteger();
  private volatile boolean isDraining;
  private final Map<EventLoop, SlowClients> slowClients = new ConcurrentHashMap<>();

  ConnectionPipeline(
      BodyBudget bodies,
      Consumer<Exchange> exchanges,
      @Property(name = "request.timeout.seconds") long requestTimeoutSeconds,
      @Property(name = "max.connections") int maxConnections,
      @Property(name = "endpoints.all.port", defaultValue = "0") int managementPort) {
    this.bodies = bodies;
    this.exchanges = exchanges;
    this.requestTimeout = Duration.ofSeconds(requestTimeoutSeconds);
    this.maxConnections = maxConnections;
    this.managementPort = managementPort;
  }

  @Override
  public NettyServerCustomizer.Registry onCreated(
      BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
    event.getBean().register(new Customizer(this, null));
    return event.getBean();
  }

  /** Begins the drain. */
  @Override
  public void run() {
    isDraining = true;
  }

  private void count(Channel channel) {
    channel.closeFuture().addListener(closed -> connections.decrementAndGet());
    if (connections.incrementAndGet() > maxConnections) {
      channel.close();
      if (TOO_MANY.isDue()) {
        LOG.warn(
            "Connections are closed because {} are open; MAX_CONNECTIONS sets the limit",
            maxConnections);
      }
    }
  }

  private void install(Channel channel) {
    boolean isManagement =
        channel.localAddress() instanceof InetSocketAddress address
            && address.getPort() == managementPort;
    if (!isManagement) {
      count(channel);
    }
    channel
        .config()
        // The largest read bounds the pipelined requests of a connection.
        .setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator(64, 2 * 1024, 8 * 1024))
        .setWriteBufferWaterMark(UNREAD);
    // Health probes are neither timed nor logged.
    Consumer<Exchange> ended = isManagement ? probe -> {} : exchanges;
    ConnectionHandler handler = new ConnectionHandler(bodies, () -> isDraining, ended);
    RequestDecoder decoder = new RequestDecoder();
    ChannelPipeline pipeline = channel.pipeline();
    pipeline.replace(HttpServerCodec.class, CODEC, decoder);
    pipeline
        .addFirst(
            "client-timeout",
            slowClientsOf(channel.eventLoop())
            .new Handler(pipeline.get(TlsHandler.class), decoder, handler))
        .addAfter(CODEC, "connection", handler)
        .addAfter(CODEC, "encoder", new HttpResponseEncoder());
  }

  private SlowClients slowClientsOf(EventLoop eventLoop) {
    int eventLoops = Runtime.getRuntime().availableProcessors();
    return slowClients.computeIfAbsent(
        eventLoop, loop -> new SlowClients(loop, eventLoops, requestTimeout));
  }

  private record Customizer(ConnectionPipeline pipeline, @Nullable Channel connection)
      implements NettyServerCustomizer {

    @Override
    public NettyServerCustomizer specializeForChannel(Channel channel, ChannelRole role) {
      return new Customizer(pipeline, channel);
    }

    @Override
    public void onStreamPipelineBuilt() {
      if (connection != null) {
        pipeline.install(connection);
      }
    }
  }
}
