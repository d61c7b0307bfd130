package org.plantstore.adapter.http.connection;

import static java.util.Objects.requireNonNull;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop that wait for their clients. Closes a connection at the
 * time-out. If the requests of all waiting connections together exceed their share of the heap,
 * evicts the connection with the longest wait, and delays input until its memory is released. Used
 * by its event loop only.
 */
final class SlowClients {

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final int SHARE_OF_HEAP = 8;

  private final long maxBytes;
  private final long timeoutNanos;

  /** The bytes of each waiting connection; the longest wait is the first. */
  private final Map<RequestTimeout, Integer> waits = new LinkedHashMap<>();

  private final Set<RequestTimeout> evicted = new HashSet<>(); // until their memory is released
  private final Queue<Runnable> delayed = new ArrayDeque<>();
  private long heldBytes;

  SlowClients(EventExecutor eventLoop, int eventLoops, Duration timeout) {
    maxBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / eventLoops;
    timeoutNanos = timeout.toNanos();
    eventLoop.scheduleWithFixedDelay(this::closeTimedOut, 500, 500, TimeUnit.MILLISECONDS);
  }

  /** Begins a wait, or changes its bytes. A single connection may exceed the share. */
  void hold(RequestTimeout client, int bytes) {
    if (evicted.contains(client)) {
      return;
    }
    Integer before = waits.put(client, bytes); // keeps the place
    heldBytes += bytes - (before == null ? 0 : before);
    while (heldBytes > maxBytes && waits.size() > 1) {
      evict(waits.keySet().iterator().next());
    }
  }

  void end(RequestTimeout client) {
    Integer bytes = waits.remove(client);
    heldBytes -= bytes == null ? 0 : bytes;
  }

  /** Ends the wait of a closed connection, whose memory is released. */
  void release(RequestTimeout client) {
    end(client);
    evicted.remove(client);
    while (evicted.isEmpty() && !delayed.isEmpty()) {
      delayed.remove().run();
    }
  }

  /** Returns whether input must be delayed. */
  boolean isReleasing() {
    return !evicted.isEmpty() || !delayed.isEmpty();
  }

  void delay(Runnable input) {
    delayed.add(input);
  }

  private void evict(RequestTimeout client) {
    if (EVICTIONS.tryAcquire()) {
      LOG.warn(
          "Connections are closed before their time-out because"
              + " the unfinished requests of one event loop hold more than {} bytes",
          maxBytes);
    }
    end(client);
    evicted.add(client);
    client.close();
  }

  private void closeTimedOut() {
    // A copy, because closing ends the wait.
    for (RequestTimeout client : List.copyOf(waits.keySet())) {
      if (client.hasRead()) {
        client.restart();
        waits.put(client, requireNonNull(waits.remove(client))); // as the shortest wait
      } else if (client.isOlderThan(timeoutNanos)) {
        client.close();
      }
    }
  }
}
