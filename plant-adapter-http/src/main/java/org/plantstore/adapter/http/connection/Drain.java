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
 * The end of the service. After {@link #run()}, each response closes its connection. At the
 * shutdown event, the ports are closed, and this class waits until the event loops have registered
 * every accepted connection: the framework then closes only connections that it knows. The kernel
 * resets a connection that it has accepted and the service has not; its client may try again. Safe
 * for use by multiple threads.
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
