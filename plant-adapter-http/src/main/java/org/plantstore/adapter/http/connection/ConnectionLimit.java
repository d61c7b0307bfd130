package org.plantstore.adapter.http.connection;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.netty.channel.Channel;
import jakarta.inject.Singleton;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import org.plantstore.adapter.http.observe.RareLine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds how many connections are open at once, because each one takes memory and a file: one too
 * many is closed at once. Those to the management port do not count and are never refused, so that
 * probes get through. Safe for use by many threads.
 */
@Singleton
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class ConnectionLimit
    implements BeanCreatedEventListener<NettyServerCustomizer.Registry>, NettyServerCustomizer {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLimit.class);

  private final int maxConnections;
  private final int managementPort;
  private final AtomicInteger connections = new AtomicInteger();
  private final RareLine line = new RareLine();

  ConnectionLimit(
      @Property(name = "max.connections") int maxConnections,
      @Nullable @Property(name = "endpoints.all.port") Integer managementPort) {
    this.maxConnections = maxConnections;
    this.managementPort = managementPort == null ? 0 : managementPort;
  }

  @Override
  public NettyServerCustomizer.Registry onCreated(
      BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
    event.getBean().register(this);
    return event.getBean();
  }

  @Override
  public NettyServerCustomizer specializeForChannel(Channel channel, ChannelRole role) {
    if (role == ChannelRole.CONNECTION && !isManagement(channel)) {
      channel.closeFuture().addListener(closed -> connections.decrementAndGet());
      if (connections.incrementAndGet() > maxConnections) {
        channel.close();
        tell();
      }
    }
    return this;
  }

  private boolean isManagement(Channel channel) {
    return channel.localAddress() instanceof InetSocketAddress address
        && address.getPort() == managementPort;
  }

  private void tell() {
    if (line.isDue()) {
      LOG.warn(
          "Connections are closed because {} are open; MAX_CONNECTIONS sets the limit",
          maxConnections);
    }
  }
}
