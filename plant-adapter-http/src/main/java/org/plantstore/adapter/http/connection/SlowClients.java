package org.plantstore.adapter.http.connection;

import static java.util.Objects.requireNonNull;

import io.netty.channel.ChannelOutboundInvoker;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
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
    /** The rest of a line of the head or of the framing, or of a body that is refused already. */
    HEAD,
    /** The rest of a body that is wanted. {@link BodyBudget} bounds the memory for it. */
    BODY,
    /** That the client reads what it was answered. */
    READER
  }

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final int SHARE_OF_HEAP = 8;

  /**
   * The most memory of one connection, roughly: the first line, the headers, the current line as it
   * came and as it is parsed, and the objects of 100 headers.
   */
  private static final int MAX_BYTES = 5 * RequestDecoder.MAX_HEAD_PART_BYTES;

  private final int maxWaiting;
  private final long timeoutNanos;
  private final Map<Wait, Map<ChannelOutboundInvoker, Long>> waiting =
      Map.of(
          Wait.HEAD, new LinkedHashMap<>(),
          Wait.BODY, new LinkedHashMap<>(),
          Wait.READER, new LinkedHashMap<>());

  SlowClients(EventExecutor eventLoop, int eventLoops, Duration timeout) {
    this.maxWaiting =
        (int) (Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / MAX_BYTES / eventLoops);
    this.timeoutNanos = timeout.toNanos();
    eventLoop.scheduleWithFixedDelay(this::sweep, 500, 500, TimeUnit.MILLISECONDS);
  }

  void add(ChannelOutboundInvoker connection, Wait kind, long sinceNanos) {
    Map<ChannelOutboundInvoker, Long> connections = of(kind);
    connections.put(connection, sinceNanos);
    if (kind != Wait.BODY && connections.size() > maxWaiting) {
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
    Iterator<ChannelOutboundInvoker> oldest = connections.keySet().iterator();
    ChannelOutboundInvoker evicted = oldest.next();
    oldest.remove();
    evicted.close();
    if (EVICTIONS.isDue()) {
      LOG.warn(
          "Connections are closed before their time-out because more than {} requests are"
              + " unfinished or answers unread on one event loop",
          maxWaiting);
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    try {
      for (Map<ChannelOutboundInvoker, Long> connections : waiting.values()) {
        new ArrayList<>(connections.entrySet())
            .stream()
                .filter(entry -> now - entry.getValue() >= timeoutNanos)
                .forEach(entry -> entry.getKey().close());
      }
    } catch (RuntimeException | Error e) {
      // No memory; an exception would end the schedule, and with it all time-outs.
    }
  }
}
