package org.plantstore.adapter.http.observe;

import io.micronaut.web.router.Router;
import io.netty.channel.Channel;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/**
 * Measures and logs the exchanges of the API. Those at other ports, such as health probes, would
 * drown them.
 */
@Singleton
public final class Exchanges {

  private final Provider<Router> router;
  private final ExchangeTimers timers;
  private final AccessLog log = new AccessLog();

  Exchanges(Provider<Router> router, ExchangeTimers timers) {
    this.router = router;
    this.timers = timers;
  }

  /** Returns what is to be given each exchange of a connection when it has ended. */
  public Consumer<Exchange> of(Channel connection) {
    boolean isOfApi =
        !(connection.localAddress() instanceof InetSocketAddress address)
            || !router.get().getExposedPorts().contains(address.getPort());
    return isOfApi ? this::record : exchange -> {};
  }

  private void record(Exchange exchange) {
    timers.record(exchange);
    log.record(exchange);
  }
}
