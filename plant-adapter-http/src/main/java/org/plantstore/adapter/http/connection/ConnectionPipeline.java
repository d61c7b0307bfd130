package org.plantstore.adapter.http.connection;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.MultithreadEventExecutorGroup;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.observe.RequestRecord;

/**
 * Installs {@link ConnectionLimit} on each listener, and the other handlers in this package on each
 * connection. Input passes through {@link Connection}, TLS, {@link RequestDecoder}, and {@link
 * RequestFlow} before it reaches the framework. The framework's output passes through {@link
 * RequestFlow}, Netty's encoder, and TLS. Safe for use by multiple threads.
 */
@Singleton
final class ConnectionPipeline
    implements BeanCreatedEventListener<NettyServerCustomizer.Registry>, NettyServerCustomizer {

  private static final String CODEC = ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC;

  /**
   * Makes a channel unwritable when it has more than 2 KiB of unsent output, and writable again
   * when it has less than 1 KiB of unsent output.
   */
  private static final WriteBufferWaterMark UNSENT = new WriteBufferWaterMark(1024, 2 * 1024);

  /**
   * The limit on the total size of all request bodies, in bytes: an eighth of the heap. A plant can
   * exist in memory in four forms at once: as a request body, as strings, as a row in a batch, and
   * as a response. This limit therefore restricts all plants together to half of the heap.
   */
  private static final long MAX_BYTES_OF_ALL_BODIES = Runtime.getRuntime().maxMemory() / 8;

  /**
   * Limits the memory for request bodies. Each of the semaphore's permits represents one free byte.
   */
  final Semaphore freeBodyBytes =
      new Semaphore((int) Math.min(MAX_BYTES_OF_ALL_BODIES, Integer.MAX_VALUE));

  private final ConnectionLimit limit;
  private final Drain drain;
  private final Consumer<RequestRecord> records;
  private final AllowedOrigins origins;
  private final long requestSeconds;
  private final long idleSeconds;
  private final Map<EventLoop, SlowClients> allSlowClients = new ConcurrentHashMap<>();

  ConnectionPipeline(
      ConnectionLimit limit,
      Drain drain,
      Consumer<RequestRecord> records,
      AllowedOrigins origins,
      @Property(name = "request.timeout.seconds") long requestSeconds,
      @Property(name = "idle.timeout.seconds") long idleSeconds) {
    this.limit = limit;
    this.drain = drain;
    this.records = records;
    this.origins = origins;
    this.requestSeconds = requestSeconds;
    this.idleSeconds = idleSeconds;
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

  private void install(Channel channel) {
    Connection connection = new Connection(channel, slowClientsOf(channel.eventLoop()));
    channel
        .config()
        .setRecvByteBufAllocator(new ReceiveBuffers(connection))
        .setWriteBufferWaterMark(UNSENT);
    // Requests to the management port are neither measured nor logged.
    boolean isManagement = limit.isManagement(channel);
    RequestFlow flow =
        new RequestFlow(
            connection,
            new BodyMemory(freeBodyBytes),
            drain::hasBegun,
            isManagement ? AllowedOrigins.NONE : origins,
            isManagement ? probe -> {} : records);
    channel.pipeline().replace(HttpServerCodec.class, CODEC, new RequestDecoder(connection));
    channel
        .pipeline()
        .addFirst("connection", connection)
        .addAfter(CODEC, "request-flow", flow)
        .addAfter(CODEC, "encoder", new HttpResponseEncoder());
  }

  private SlowClients slowClientsOf(EventLoop eventLoop) {
    int eventLoops = ((MultithreadEventExecutorGroup) eventLoop.parent()).executorCount();
    return allSlowClients.computeIfAbsent(
        eventLoop,
        loop -> new SlowClients(loop, new RequestMemory(eventLoops), requestSeconds, idleSeconds));
  }
}
