package org.plantstore.adapter.http.connection;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop. Closes each at its time-out, and the one with the longest wait
 * if all that wait for their clients hold more than their share of the heap. Used by its event loop
 * only.
 */
final class SlowClients {

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final int SHARE_OF_HEAP = 8;

  private final long maxBytes;
  private final Set<RequestTimeout> connections = new HashSet<>();

  /** The bytes of those that wait for their clients; the longest wait is the first. */
  private final Map<RequestTimeout, Integer> waits = new LinkedHashMap<>();

  private long heldBytes;

  SlowClients(EventExecutor eventLoop, int eventLoops, Duration ofRequest, Duration ofIdle) {
    maxBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / eventLoops;
    Runnable sweep =
        () ->
            List.copyOf(connections)
                .forEach(each -> each.closeIfOver(ofRequest.toNanos(), ofIdle.toNanos()));
    eventLoop.scheduleWithFixedDelay(sweep, 500, 500, TimeUnit.MILLISECONDS);
  }

  void add(RequestTimeout connection) {
    connections.add(connection);
  }

  void remove(RequestTimeout connection) {
    connections.remove(connection);
    hold(connection, 0);
  }

  /**
   * Changes the bytes of a wait, or ends it with none. A single connection may exceed the share.
   */
  void hold(RequestTimeout connection, int bytes) {
    Integer before = bytes > 0 ? waits.put(connection, bytes) : waits.remove(connection);
    heldBytes += bytes - (before == null ? 0 : before);
    while (heldBytes > maxBytes && waits.size() > 1) {
      evict(waits.keySet().iterator().next());
    }
  }

  private void evict(RequestTimeout longest) {
    if (EVICTIONS.tryAcquire()) {
      LOG.warn(
          "Connections are closed before their time-out because"
              + " the unfinished requests of one event loop hold more than {} bytes",
          maxBytes);
    }
    hold(longest, 0);
    longest.close();
  }
}
