package org.plantstore.adapter.http.observe;

import io.micronaut.web.router.Router;
import io.netty.channel.Channel;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import java.net.InetSocketAddress;

/**
 * Measures and logs the exchanges of the API. Those at other ports, such as health probes, would
 * drown them, and only get ids.
 */
@Singleton
public final class Exchanges {

  private final Provider<Router> router;
  private final ExchangeTimers timers;
  private final RequestMemory requestMemory;
  private final AccessLog log = new AccessLog();

  public Exchanges(Provider<Router> router, ExchangeTimers timers, RequestMemory requestMemory) {
    this.router = router;
    this.timers = timers;
    this.requestMemory = requestMemory;
  }

  /** Answers the exchanges of a connection, of which there are none yet. */
  public UnansweredExchanges of(Channel connection) {
    return new UnansweredExchanges(
        requestMemory, isOfApi(connection) ? this::record : exchange -> {});
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
