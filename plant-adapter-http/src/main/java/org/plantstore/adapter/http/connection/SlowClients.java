package org.plantstore.adapter.http.connection;

import static java.util.Comparator.comparingLong;

import io.netty.channel.ChannelOutboundInvoker;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop that wait for their clients. Closes a connection at the
 * time-out. If all waiting connections together exceed their share of the heap, evicts the
 * connection with the longest wait, and delays input until its memory is released. Used by its
 * event loop only.
 */
final class SlowClients {

  /** The kinds of waits, each with a rough bound of the memory that a connection holds. */
  enum Kind {
    /** The next message of a handshake, or the rest of a record between requests. */
    TLS(20 * 1024),
    /**
     * The rest of a line of the head or of the framing. Memory is held by the first line, the
     * headers, the current line as received and as parsed, and the objects of 100 headers.
     */
    HEAD(5 * RequestDecoder.MAX_HEAD_PART_BYTES),
    /**
     * The rest of a body. Memory is held by the request's objects, and by four copies of its head;
     * {@link BodyBudget} bounds the body itself.
     */
    BODY(12 * 1024),
    /** The rest of a refused body, which is dropped. The connection and its request remain. */
    REFUSED_BODY(12 * 1024),
    /** The client's reading of its answers. */
    ANSWER(5 * RequestDecoder.MAX_HEAD_PART_BYTES);

    private final long maxBytes;

    Kind(long maxBytes) {
      this.maxBytes = maxBytes;
    }
  }

  /**
   * A connection that has waited since a moment of {@link System#nanoTime}.
   *
   * @param connection closes the connection past its other handlers, which would wait
   */
  record Wait(ChannelOutboundInvoker connection, Kind kind, long headBytes, long sinceNanos) {

    long maxBytes() {
      return kind.maxBytes + (kind == Kind.BODY ? 4 * headBytes : 0);
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final int SHARE_OF_HEAP = 8;

  /** The largest wait: for a body, with the largest first line and headers. */
  private static final long MAX_WAIT_BYTES =
      Kind.BODY.maxBytes + 4 * 2 * RequestDecoder.MAX_HEAD_PART_BYTES;

  private final long maxBytes;
  private final long timeoutNanos;
  private final Set<Wait> waits = new HashSet<>();
  private final Set<Wait> evicted = new HashSet<>(); // until their memory is released
  private final Queue<Runnable> delayed = new ArrayDeque<>();
  private long heldBytes;

  SlowClients(EventExecutor eventLoop, int eventLoops, Duration timeout) {
    maxBytes =
        Math.max(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / eventLoops, MAX_WAIT_BYTES);
    timeoutNanos = timeout.toNanos();
    eventLoop.scheduleWithFixedDelay(this::closeTimedOut, 500, 500, TimeUnit.MILLISECONDS);
  }

  void begin(Wait wait) {
    waits.add(wait);
    heldBytes += wait.maxBytes();
    while (heldBytes > maxBytes) {
      evictOldest();
    }
  }

  void end(Wait wait) {
    if (waits.remove(wait)) {
      heldBytes -= wait.maxBytes();
    } else if (evicted.remove(wait)) {
      while (evicted.isEmpty() && !delayed.isEmpty()) {
        delayed.remove().run();
      }
    }
  }

  /** Runs an input: at once, or when evicted connections have released their memory. */
  void whenReleased(Runnable input) {
    if (evicted.isEmpty() && delayed.isEmpty()) {
      input.run();
    } else {
      delayed.add(input);
    }
  }

  private void evictOldest() {
    long now = System.nanoTime();
    Wait oldest = waits.stream().max(comparingLong(wait -> now - wait.sinceNanos)).orElseThrow();
    if (EVICTIONS.tryAcquire()) {
      LOG.warn(
          "Connections are closed before their time-out because slow clients of one event loop hold"
              + " more than {} bytes",
          maxBytes);
    }
    end(oldest);
    evicted.add(oldest);
    oldest.connection.close();
  }

  private void closeTimedOut() {
    long now = System.nanoTime();
    // A copy, because closing ends the wait.
    for (Wait wait : List.copyOf(waits)) {
      if (now - wait.sinceNanos >= timeoutNanos) {
        wait.connection.close();
      }
    }
  }
}
