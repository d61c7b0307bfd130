package org.plantstore.adapter.http;

import io.micronaut.web.router.Router;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;

/**
 * Measures and logs the exchanges of the API. Those at other ports, such as probes of the health,
 * would drown them, and get ids alone.
 */
@Singleton
final class Exchanges {

  private final Provider<Router> router;
  private final ExchangeTimers timers;
  private final AccessLog log = new AccessLog();

  Exchanges(Provider<Router> router, ExchangeTimers timers) {
    this.router = router;
    this.timers = timers;
  }

  /**
   * Answers what follows the exchanges of a connection.
   *
   * @param channel the connection
   * @param isEnding whether requests that still come are not looked at
   */
  ChannelHandler handlerOf(Channel channel, BooleanSupplier isEnding) {
    return new ExchangeHandler(isOfApi(channel) ? this::record : exchange -> {}, isEnding);
  }

  private boolean isOfApi(Channel channel) {
    return !(channel.localAddress() instanceof InetSocketAddress address)
        || !router.get().getExposedPorts().contains(address.getPort());
  }

  private void record(Exchange exchange) {
    timers.record(exchange);
    log.record(exchange);
  }
}
