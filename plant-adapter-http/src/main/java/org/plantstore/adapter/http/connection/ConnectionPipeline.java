package org.plantstore.adapter.http.connection;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.micronaut.runtime.server.event.ServerShutdownEvent;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.MultithreadEventExecutorGroup;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
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
    implements BeanCreatedEventListener<NettyServerCustomizer.Registry>,
        NettyServerCustomizer,
        ApplicationEventListener<ServerShutdownEvent>,
        Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionPipeline.class);
  private static final LogLimit TOO_MANY = new LogLimit();
  private static final String CODEC = ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC;

  /** Writing stops when more than 2 KiB of answers are unread, and resumes below 1 KiB. */
  private static final WriteBufferWaterMark UNREAD = new WriteBufferWaterMark(1024, 2 * 1024);

  private final BodyBudget bodies;
  private final Consumer<Exchange> exchanges;
  private final Duration requestTimeout;
  private final int maxConnections;
  private final int managementPort;
  private final AtomicInteger connections = new AtomicInteger();
  private volatile boolean isDraining;
  private final Collection<AbstractNioChannel> listeners = new ConcurrentLinkedQueue<>();
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
    LOG.info("At most {} connections can be open", maxConnections);
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
      listeners.add((AbstractNioChannel) channel);
      channel.pipeline().addFirst(new Acceptance());
      return this;
    }
    return new NettyServerCustomizer() {
      @Override
      public void onStreamPipelineBuilt() {
        install(channel);
      }
    };
  }

  /** Begins the drain. */
  @Override
  public void run() {
    isDraining = true;
  }

  /** Closes the ports while the event loops run, so that each accepted connection is served. */
  @Override
  public void onApplicationEvent(ServerShutdownEvent event) {
    for (AbstractNioChannel listener : listeners) {
      // A selector would keep the port open until its next iteration.
      listener.deregister().awaitUninterruptibly();
      listener.eventLoop().schedule(() -> close(listener), 1, MILLISECONDS).awaitUninterruptibly();
    }
    // After the tasks that register connections.
    slowClients.keySet().stream()
        .map(EventLoop::parent)
        .distinct()
        .forEach(loops -> loops.forEach(loop -> loop.submit(() -> {}).awaitUninterruptibly()));
  }

  /**
   * Accepts the connections that the kernel has accepted, and closes the port at once, because the
   * kernel resets a connection that is accepted in between.
   */
  private static ChannelFuture close(AbstractNioChannel listener) throws IOException {
    ServerSocketChannel port = (ServerSocketChannel) listener.unsafe().ch();
    List<SocketChannel> last = new ArrayList<>();
    try {
      for (SocketChannel each = port.accept(); each != null; each = port.accept()) {
        last.add(each);
      }
    } finally { // also if too many files are open
      port.close();
      last.forEach(
          each -> listener.pipeline().fireChannelRead(new NioSocketChannel(listener, each)));
    }
    return listener.close();
  }

  private void install(Channel channel) {
    boolean isManagement = isManagement(channel);
    channel
        .config()
        // The largest read bounds the pipelined requests of a connection.
        .setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator(64, 2 * 1024, 8 * 1024))
        .setWriteBufferWaterMark(UNREAD);
    // Exchanges at the management port are neither measured nor logged.
    Consumer<Exchange> ended = isManagement ? probe -> {} : exchanges;
    ConnectionHandler handler = new ConnectionHandler(bodies, () -> isDraining, ended);
    RequestDecoder decoder = handler.decoder();
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
    int eventLoops = ((MultithreadEventExecutorGroup) eventLoop.parent()).executorCount();
    return slowClients.computeIfAbsent(
        eventLoop, loop -> new SlowClients(loop, eventLoops, requestTimeout));
  }

  private boolean isManagement(Channel channel) {
    return channel.localAddress() instanceof InetSocketAddress address
        && address.getPort() == managementPort;
  }

  /** Closes a connection beyond the limit before its registration, so that its file is free. */
  private final class Acceptance extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext listener, Object accepted) {
      Channel connection = (Channel) accepted;
      if (isManagement(listener.channel())) {
        listener.fireChannelRead(connection);
      } else if (connections.incrementAndGet() <= maxConnections) {
        connection.closeFuture().addListener(closed -> connections.decrementAndGet());
        listener.fireChannelRead(connection);
      } else {
        connections.decrementAndGet();
        connection.unsafe().closeForcibly();
        if (TOO_MANY.tryAcquire()) {
          LOG.warn(
              "Connections are closed because {} are open; MAX_CONNECTIONS sets the limit",
              maxConnections);
        }
      }
    }
  }
}
