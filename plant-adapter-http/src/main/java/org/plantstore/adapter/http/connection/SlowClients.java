package org.plantstore.adapter.http.connection;

import static java.util.Comparator.comparingLong;
import static java.util.Objects.requireNonNull;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundInvoker;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.connection.TlsContexts.TlsHandler;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop that wait for their clients. Closes connections that wait
 * longer than the time-out, and evicts the oldest of a kind when more wait than there is memory
 * for. An event loop closes its own connections at once, so the memory is free before another
 * connection takes it. Used by its event loop only.
 */
final class SlowClients {

  /** The kinds of waits, each with a rough bound of the memory that a connection holds. */
  enum Wait {
    /** The next message of a handshake, or the rest of a record between requests. */
    TLS(20 * 1024),
    /**
     * The rest of a line of the head or of the framing: the first line, the headers, the current
     * line as it came and as it is parsed, and the objects of 100 headers.
     */
    HEAD(5 * RequestDecoder.MAX_HEAD_PART_BYTES),
    /** The rest of a body, whose memory {@link BodyBudget} bounds. */
    BODY(0),
    /** The rest of a refused body, which is dropped: the connection and its request. */
    REFUSED_BODY(16 * 1024),
    /** The client's reading of its answers. */
    READER(5 * RequestDecoder.MAX_HEAD_PART_BYTES);

    private final long maxBytes;

    Wait(long maxBytes) {
      this.maxBytes = maxBytes;
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final int SHARE_OF_HEAP = 8;

  private final long maxBytesOfEachKind;
  private final long timeoutNanos;

  /** When each connection began to wait. */
  private final Map<Wait, Map<ChannelOutboundInvoker, Long>> starts = new EnumMap<>(Wait.class);

  SlowClients(EventExecutor eventLoop, int eventLoops, Duration timeout) {
    maxBytesOfEachKind = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / eventLoops;
    timeoutNanos = timeout.toNanos();
    for (Wait kind : Wait.values()) {
      starts.put(kind, new LinkedHashMap<>());
    }
    eventLoop.scheduleWithFixedDelay(this::closeTimedOut, 500, 500, TimeUnit.MILLISECONDS);
  }

  void add(ChannelOutboundInvoker connection, Wait kind, long sinceNanos) {
    Map<ChannelOutboundInvoker, Long> connections = requireNonNull(starts.get(kind));
    connections.put(connection, sinceNanos);
    if (connections.size() * kind.maxBytes > maxBytesOfEachKind) {
      evictOldest(connections);
    }
  }

  void remove(ChannelOutboundInvoker connection, Wait kind) {
    requireNonNull(starts.get(kind)).remove(connection);
  }

  private static void evictOldest(Map<ChannelOutboundInvoker, Long> connections) {
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

  private void closeTimedOut() {
    long now = System.nanoTime();
    for (Map<ChannelOutboundInvoker, Long> connections : starts.values()) {
      // A copy, because closing removes.
      for (var start : new ArrayList<>(connections.entrySet())) {
        if (now - start.getValue() >= timeoutNanos) {
          start.getKey().close();
        }
      }
    }
  }

  /**
   * Determines whether a connection waits for its client, and since when. One per connection, in
   * front of all other handlers.
   */
  final class Handler extends ChannelDuplexHandler {

    private final @Nullable TlsHandler tls;
    private final RequestDecoder decoder;
    private final ConnectionHandler handler;
    private @Nullable Wait wait;
    private long sinceNanos;

    Handler(@Nullable TlsHandler tls, RequestDecoder decoder, ConnectionHandler handler) {
      this.tls = tls;
      this.decoder = decoder;
      this.handler = handler;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.fireChannelRead(message);
      update(context, currentWait(context));
    }

    /** Follows a pipelined request, which is received before more is read. */
    @Override
    public void read(ChannelHandlerContext context) {
      context.read();
      update(context, currentWait(context));
    }

    @Override
    public void flush(ChannelHandlerContext context) {
      context.flush();
      update(context, currentWait(context));
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      update(context, currentWait(context));
      context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      update(context, null);
      context.fireChannelInactive();
    }

    /** Returns the kind of the wait, or null if the connection is idle, is served, or ends. */
    private @Nullable Wait currentWait(ChannelHandlerContext context) {
      ReadState state = handler.state();
      // A connection whose output is closed is not writable either.
      if (state != ReadState.REFUSED_BODY && !context.channel().isWritable()) {
        return Wait.READER;
      } else if (tls != null && !tls.handshakeFuture().isDone()) {
        return Wait.TLS;
      } else if (state != ReadState.END && decoder.isLineBegun()) {
        return Wait.HEAD;
      } else if (state == ReadState.REFUSED_BODY) {
        return Wait.REFUSED_BODY;
      } else if (state == ReadState.BODY) {
        return Wait.BODY;
      }
      return tls != null && tls.isRecordBegun() ? Wait.TLS : null;
    }

    /** A change between handshake, head and body does not restart the time-out. */
    private void update(ChannelHandlerContext context, @Nullable Wait next) {
      if (wait == next) {
        return;
      }
      if (wait != null) {
        remove(context, wait);
      }
      if (wait == null || wait == Wait.READER || next == Wait.READER) {
        sinceNanos = System.nanoTime();
      }
      wait = next;
      if (next != null && context.channel().isActive()) {
        add(context, next, sinceNanos);
      }
    }
  }
}
