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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.observe.Exchange;

/**
 * Installs {@link ConnectionLimit} on every listener, and the other handlers of this package on
 * every connection. Input passes them in this order, output in the reverse: {@link
 * SlowClients.Client}, TLS, {@link RequestDecoder} or Netty's encoder, {@link RequestSequence},
 * {@link BodyMemory}, the framework. Safe for use by many threads.
 */
@Singleton
final class ConnectionPipeline
    implements BeanCreatedEventListener<NettyServerCustomizer.Registry>, NettyServerCustomizer {

  private static final String CODEC = ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC;

  /** Writing stops when more than 2 KiB of answers are unread, and resumes below 1 KiB. */
  private static final WriteBufferWaterMark UNREAD = new WriteBufferWaterMark(1024, 2 * 1024);

  /**
   * An eighth of the heap. A plant also exists as text, as row of a batch and as answer, each of up
   * to the bytes of its body, so all plants together take at most half of the heap.
   */
  private static final long MAX_BYTES_OF_ALL_BODIES = Runtime.getRuntime().maxMemory() / 8;

  private final Semaphore freeBodyBytes =
      new Semaphore((int) Math.min(MAX_BYTES_OF_ALL_BODIES, Integer.MAX_VALUE));
  private final ConnectionLimit limit;
  private final Drain drain;
  private final Consumer<Exchange> exchanges;
  private final AllowedOrigins origins;
  private final long requestSeconds;
  private final long idleSeconds;
  private final Map<EventLoop, SlowClients> allSlowClients = new ConcurrentHashMap<>();

  ConnectionPipeline(
      ConnectionLimit limit,
      Drain drain,
      Consumer<Exchange> exchanges,
      AllowedOrigins origins,
      @Property(name = "request.timeout.seconds") long requestSeconds,
      @Property(name = "idle.timeout.seconds") long idleSeconds) {
    this.limit = limit;
    this.drain = drain;
    this.exchanges = exchanges;
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
    RequestSequence sequence = new RequestSequence(drain::hasBegun, readers, ended);
    SlowClients slowClients = slowClientsOf(connection.eventLoop());
    ChannelPipeline pipeline = connection.pipeline();
    pipeline.replace(HttpServerCodec.class, CODEC, sequence.decoder());
    pipeline
        .addFirst("slow-clients", slowClients.new Client(connection, sequence))
        .addAfter(CODEC, "body-memory", new BodyMemory(sequence, freeBodyBytes))
        .addAfter(CODEC, "request-sequence", sequence)
        .addAfter(CODEC, "encoder", new HttpResponseEncoder());
  }

  /** Returns the bytes that are free for the bodies of all connections together. */
  Semaphore freeBodyBytes() {
    return freeBodyBytes;
  }

  private SlowClients slowClientsOf(EventLoop eventLoop) {
    int eventLoops = ((MultithreadEventExecutorGroup) eventLoop.parent()).executorCount();
    return allSlowClients.computeIfAbsent(
        eventLoop, loop -> new SlowClients(loop, eventLoops, requestSeconds, idleSeconds));
  }
}
