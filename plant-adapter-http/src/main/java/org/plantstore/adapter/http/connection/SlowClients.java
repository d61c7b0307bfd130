package org.plantstore.adapter.http.connection;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.netty.util.concurrent.EventExecutor;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes the connections of slow clients on one event loop. The timeout is shorter while the memory
 * for requests is exhausted. A periodic sweep checks all connections, because one timer per
 * connection would be more expensive. Used only by the event loop.
 */
final class SlowClients {

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final LogLimit FAILURES = new LogLimit();
  private static final int SWEEP_MILLIS = 500;

  /** This timeout replaces a longer request timeout while the memory for requests is exhausted. */
  private static final long EXHAUSTED_NANOS = SECONDS.toNanos(2);

  private final EventExecutor eventLoop;
  private final RequestMemory memory;
  private final long requestNanos;
  private final long exhaustedNanos;
  private final long idleNanos;
  private final Set<Connection> connections = new HashSet<>();
  private boolean isSweepScheduled;

  /**
   * A clock that advances only when the connections are checked, so that it stops while the service
   * is stalled.
   */
  private long clockNanos;

  SlowClients(
      EventExecutor eventLoop, RequestMemory memory, long requestSeconds, long idleSeconds) {
    this.eventLoop = eventLoop;
    this.memory = memory;
    this.requestNanos = SECONDS.toNanos(requestSeconds);
    this.exhaustedNanos = Math.min(requestNanos, EXHAUSTED_NANOS);
    this.idleNanos = SECONDS.toNanos(idleSeconds);
  }

  RequestMemory memory() {
    return memory;
  }

  void add(Connection connection) {
    connections.add(connection);
    scheduleSweep();
  }

  void remove(Connection connection) {
    connections.remove(connection);
  }

  private void scheduleSweep() {
    if (!isSweepScheduled && !connections.isEmpty()) {
      isSweepScheduled = true;
      eventLoop.schedule(this::sweep, SWEEP_MILLIS, MILLISECONDS);
    }
  }

  private void sweep() {
    isSweepScheduled = false;
    try {
      clockNanos += MILLISECONDS.toNanos(SWEEP_MILLIS);
      for (Connection connection : List.copyOf(connections)) {
        boolean isExhausted = memory.isExhausted();
        long nanos = isExhausted ? exhaustedNanos : requestNanos;
        boolean isSlow = connection.closeIfTimedOut(clockNanos, nanos, idleNanos);
        if (isSlow && isExhausted && EVICTIONS.tryAcquire()) {
          LOG.warn(
              "Connections are being closed early, because"
                  + " incomplete requests on one event loop hold more than {} bytes",
              memory.maxBytes());
        }
      }
    } catch (RuntimeException e) {
      if (FAILURES.tryAcquire()) {
        LOG.error("The connections of slow clients could not be closed", e);
      }
    } finally {
      scheduleSweep();
    }
  }
}
