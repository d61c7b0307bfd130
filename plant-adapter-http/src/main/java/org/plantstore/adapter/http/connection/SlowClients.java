package org.plantstore.adapter.http.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.concurrent.EventExecutor;
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
 * Closes the connections of one event loop at their time-outs, in one sweep for all. If those that
 * wait for their clients hold more than their share of the heap, closes the one with the longest
 * wait. Used by its event loop only.
 */
final class SlowClients {

  private static final Logger LOG = LoggerFactory.getLogger(SlowClients.class);
  private static final LogLimit EVICTIONS = new LogLimit();
  private static final int SHARE_OF_HEAP = 8;
  private static final int SWEEP_MILLIS = 500;

  /** Roughly the objects of a request, and the bytes of its body that are not counted. */
  private static final int BYTES_PER_REQUEST = 4 * 1024;

  private final long maxBytes;
  private final long requestNanos;
  private final long idleNanos;
  private final Set<Client> clients = new HashSet<>();

  /** The bytes of connections that wait for their clients; the longest wait is the first. */
  private final Map<Client, Integer> waits = new LinkedHashMap<>();

  private long heldBytes;

  SlowClients(EventExecutor eventLoop, int eventLoops, long requestSeconds, long idleSeconds) {
    maxBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / eventLoops;
    requestNanos = TimeUnit.SECONDS.toNanos(requestSeconds);
    idleNanos = TimeUnit.SECONDS.toNanos(idleSeconds);
    eventLoop.scheduleWithFixedDelay(
        () -> List.copyOf(clients).forEach(Client::closeIfTimedOut),
        SWEEP_MILLIS,
        SWEEP_MILLIS,
        TimeUnit.MILLISECONDS);
  }

  /** Changes the bytes of a wait, or ends it with none. A single one may exceed the share. */
  private void changeWait(Client client, int bytes) {
    Integer before = bytes > 0 ? waits.put(client, bytes) : waits.remove(client);
    heldBytes += bytes - (before == null ? 0 : before);
    while (heldBytes > maxBytes && waits.size() > 1) {
      evict(waits.keySet().iterator().next());
    }
  }

  private void evict(Client longest) {
    if (EVICTIONS.tryAcquire()) {
      LOG.warn(
          "Connections are closed before their time-out because"
              + " the unfinished requests of one event loop hold more than {} bytes",
          maxBytes);
    }
    changeWait(longest, 0);
    longest.close();
  }

  private enum Wait {
    /** The service has to answer. */
    NONE,
    NEXT_REQUEST,
    REST_OF_REQUEST,
    READING_OF_ANSWER
  }

  /** The first handler of a connection: what it waits for, since when, and its bytes. */
  final class Client extends ChannelDuplexHandler {

    private final Channel connection;
    private final RequestSequence sequence;
    private Wait lastWait = Wait.NONE;
    private int lastAnswers;
    private long lastUnreadBytes;
    private long sinceNanos;

    Client(Channel connection, RequestSequence sequence) {
      this.connection = connection;
      this.sequence = sequence;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      clients.add(this);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
      clients.remove(this);
      changeWait(this, 0);
    }

    /** Called after all input, and when a pipelined request begins. */
    @Override
    public void read(ChannelHandlerContext context) {
      context.read();
      updateWait();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      updateWait();
      context.fireChannelWritabilityChanged();
    }

    private void updateWait() {
      boolean isSlow = sequence.isUnfinished() || !connection.isWritable();
      boolean isHeld = isSlow && connection.isActive();
      changeWait(this, isHeld ? BYTES_PER_REQUEST + sequence.decoder().heldBytes() : 0);
    }

    private Wait currentWait() {
      if (!connection.isWritable()) {
        return Wait.READING_OF_ANSWER;
      }
      if (sequence.isUnfinished()) {
        return Wait.REST_OF_REQUEST;
      }
      return sequence.isAnswering() ? Wait.NONE : Wait.NEXT_REQUEST;
    }

    /**
     * The time of a request begins with its first byte and includes its body; that of an answer
     * begins again when the client reads.
     */
    private void closeIfTimedOut() {
      long now = System.nanoTime();
      Wait wait = currentWait();
      int answers = sequence.answers();
      long unreadBytes = unreadBytes();
      boolean isRead = wait == Wait.READING_OF_ANSWER && unreadBytes < lastUnreadBytes;
      if (wait != lastWait || answers != lastAnswers || isRead) {
        sinceNanos = now;
      }
      lastWait = wait;
      lastAnswers = answers;
      lastUnreadBytes = unreadBytes;
      boolean isIdle = wait == Wait.NEXT_REQUEST;
      if (wait != Wait.NONE && now - sinceNanos > (isIdle ? idleNanos : requestNanos)) {
        if (isIdle) {
          connection.close(); // as TLS wants it
        } else {
          close();
        }
      }
    }

    private long unreadBytes() {
      ChannelOutboundBuffer output = connection.unsafe().outboundBuffer();
      return output == null ? 0 : output.totalPendingWriteBytes() - output.currentProgress();
    }

    /** Closes the connection past its other handlers, which would wait. */
    private void close() {
      connection.pipeline().firstContext().close();
    }
  }
}
