package org.plantstore.adapter.http.connection;

import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.http.netty.channel.EventLoopGroupRegistry;
import io.micronaut.runtime.server.event.ServerShutdownEvent;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Performs the adapter's part of a graceful shutdown. Once {@link #run()} has been called, each
 * connection is closed after its next response. When the server shuts down, this class closes the
 * listening sockets and waits until the event loops have registered every accepted connection,
 * because the framework closes only registered connections gracefully. The kernel resets
 * connections that the service has not accepted. The clients of these connections can safely retry,
 * because the service has not read their requests. Safe for use by multiple threads.
 */
@Singleton
@Named("drain")
final class Drain implements Runnable, ApplicationEventListener<ServerShutdownEvent> {

  private final EventLoopGroup eventLoops;
  private final Collection<Channel> listeners = new ConcurrentLinkedQueue<>();
  private volatile boolean hasBegun;

  Drain(EventLoopGroupRegistry eventLoopGroups) {
    eventLoops = eventLoopGroups.getDefaultEventLoopGroup();
  }

  void addListener(Channel listener) {
    listeners.add(listener);
  }

  @Override
  public void run() {
    hasBegun = true;
  }

  boolean hasBegun() {
    return hasBegun;
  }

  @Override
  public void onApplicationEvent(ServerShutdownEvent event) {
    listeners.forEach(listener -> listener.close().awaitUninterruptibly());
    eventLoops.forEach(eventLoop -> eventLoop.submit(() -> {}).awaitUninterruptibly());
  }
}
