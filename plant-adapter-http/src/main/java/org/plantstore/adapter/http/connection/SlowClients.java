package org.plantstore.adapter.http.connection;

import static java.util.Comparator.comparingLong;
import static java.util.Objects.requireNonNull;

import io.netty.channel.ChannelOutboundInvoker;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop that wait for their clients. Closes those that wait longer than
 * the time-out, and the oldest of a kind when more wait than there is memory for. Because an event
 * loop closes its own connections at once, the memory of the one that is closed is free before the
 * next one takes any. Used by its event loop alone.
 */
final class SlowClients {

  /** What a connection waits for. */
  enum Wait {
    /** The next message of a handshake, or the rest of a record between requests. */
    TLS(20 * 1024),
    /**
     * The rest of a line of the head or of the framing: the first line, the headers, the current
     * line as it came and as it is parsed, and the objects of 100 headers.
     */
    HEAD(5 * RequestDecoder.MAX_HEAD_PART_BYTES),
    /** The rest of a body, for which {@link BodyBudget} bounds the memory, or which is dropped. */
    BODY(0),
    /** That the client reads what it was answered. */
    READER(5 * RequestDecoder.MAX_HEAD_PART_BYTES);

    /** The most memory of one connection, roughly, or 0 if it is bounded elsewhere. */
    private final int maxBytes;

    Wait(int maxBytes) {
      this.maxBytes = maxBytes;
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final int SHARE_OF_HEAP = 8;

  /** For the connections of each kind. */
  private final long maxBytes;

  private final long timeoutNanos;
  private final Map<Wait, Map<ChannelOutboundInvoker, Long>> waiting =
      Map.of(
          Wait.TLS, new LinkedHashMap<>(),
          Wait.HEAD, new LinkedHashMap<>(),
          Wait.BODY, new LinkedHashMap<>(),
          Wait.READER, new LinkedHashMap<>());

  SlowClients(EventExecutor eventLoop, int eventLoops, Duration timeout) {
    this.maxBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / eventLoops;
    this.timeoutNanos = timeout.toNanos();
    eventLoop.scheduleWithFixedDelay(this::sweep, 500, 500, TimeUnit.MILLISECONDS);
  }

  void add(ChannelOutboundInvoker connection, Wait kind, long sinceNanos) {
    Map<ChannelOutboundInvoker, Long> connections = of(kind);
    connections.put(connection, sinceNanos);
    if ((long) connections.size() * kind.maxBytes > maxBytes) {
      evictOldest(connections);
    }
  }

  void remove(ChannelOutboundInvoker connection, Wait kind) {
    of(kind).remove(connection);
  }

  private Map<ChannelOutboundInvoker, Long> of(Wait kind) {
    return requireNonNull(waiting.get(kind));
  }

  private void evictOldest(Map<ChannelOutboundInvoker, Long> connections) {
    long now = System.nanoTime();
    ChannelOutboundInvoker oldest =
        Collections.max(connections.entrySet(), comparingLong(entry -> now - entry.getValue()))
            .getKey();
    connections.remove(oldest);
    oldest.close();
    if (EVICTIONS.isDue()) {
      LOG.warn(
          "Connections are closed before their time-out because more than {} requests or handshakes"
              + " are unfinished, or answers unread, on one event loop",
          connections.size());
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    for (Map<ChannelOutboundInvoker, Long> connections : waiting.values()) {
      new ArrayList<>(connections.entrySet())
          .stream()
              .filter(entry -> now - entry.getValue() >= timeoutNanos)
              .forEach(entry -> entry.getKey().close());
    }
  }
}
