package org.plantstore.adapter.http.connection;

import io.micronaut.context.annotation.Property;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import jakarta.inject.Singleton;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes new connections while {@code MAX_CONNECTIONS} connections are open. Connections to the
 * management port are not limited, so that probes are always served. This handler is the first one
 * in the pipeline of each listener. Safe for use by multiple threads.
 */
@Sharable
@Singleton
final class ConnectionLimit extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLimit.class);
  private static final LogLimit TOO_MANY = new LogLimit();

  private final int maxConnections;
  private final int managementPort;
  private final Semaphore free;

  ConnectionLimit(
      @Property(name = "max.connections") int maxConnections,
      @Property(name = "endpoints.all.port", defaultValue = "0") int managementPort) {
    this.maxConnections = maxConnections;
    this.managementPort = managementPort;
    this.free = new Semaphore(maxConnections);
    LOG.info("At most {} connections can be open at the same time", maxConnections);
  }

  /** Returns whether a listener or a connection uses the management port. */
  boolean isManagement(Channel channel) {
    return channel.localAddress() instanceof InetSocketAddress address
        && address.getPort() == managementPort;
  }

  /**
   * Closes a connection that exceeds the limit. The connection is closed before it is registered
   * with an event loop, so that its file descriptor is freed immediately.
   */
  @Override
  public void channelRead(ChannelHandlerContext listener, Object accepted) {
    Channel connection = (Channel) accepted;
    if (isManagement(listener.channel())) {
      listener.fireChannelRead(connection);
    } else if (free.tryAcquire()) {
      connection.closeFuture().addListener(closed -> free.release());
      listener.fireChannelRead(connection);
    } else {
      connection.unsafe().closeForcibly();
      if (TOO_MANY.tryAcquire()) {
        LOG.warn(
            "New connections are being closed because {} are already open; MAX_CONNECTIONS sets the limit",
            maxConnections);
      }
    }
  }
}
