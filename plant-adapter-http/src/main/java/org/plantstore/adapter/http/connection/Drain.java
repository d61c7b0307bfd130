package org.plantstore.adapter.http.connection;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.runtime.server.event.ServerShutdownEvent;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The end of the service. Draining begins with {@link #run()}: from then on each answer closes its
 * connection. At the server's shutdown event, before the event loops stop, (1) each listener leaves
 * its selector, (2) it accepts what the kernel has accepted, and closes its port, (3) each event
 * loop registers its new connections. So each accepted connection is served. Safe for use by many
 * threads.
 */
@Singleton
@Named("drain")
final class Drain implements Runnable, ApplicationEventListener<ServerShutdownEvent> {

  private final Collection<AbstractNioChannel> listeners = new ConcurrentLinkedQueue<>();
  private final Set<EventLoopGroup> eventLoops = ConcurrentHashMap.newKeySet();
  private volatile boolean isDraining;

  void addListener(Channel listener) {
    listeners.add((AbstractNioChannel) listener);
  }

  void addConnection(Channel connection) {
    eventLoops.add(connection.eventLoop().parent());
  }

  @Override
  public void run() {
    isDraining = true;
  }

  boolean hasBegun() {
    return isDraining;
  }

  @Override
  public void onApplicationEvent(ServerShutdownEvent event) {
    for (AbstractNioChannel listener : listeners) {
      // The port is deregistered when the selector has selected again; a delayed task runs after.
      listener.deregister().awaitUninterruptibly();
      listener.eventLoop().schedule(() -> close(listener), 1, MILLISECONDS).awaitUninterruptibly();
    }
    eventLoops.forEach(
        group -> group.forEach(loop -> loop.submit(() -> {}).awaitUninterruptibly()));
  }

  /**
   * Accepts the connections that the kernel has accepted, and closes the port at once, because the
   * kernel resets a connection that arrives between the last accept and the close.
   */
  private static ChannelFuture close(AbstractNioChannel listener) throws IOException {
    List<SocketChannel> last = new ArrayList<>();
    try (ServerSocketChannel port = (ServerSocketChannel) listener.unsafe().ch()) {
      for (SocketChannel each = port.accept(); each != null; each = port.accept()) {
        last.add(each);
      }
    } finally { // also if too many files are open
      last.forEach(
          each -> listener.pipeline().fireChannelRead(new NioSocketChannel(listener, each)));
    }
    return listener.close();
  }
}
