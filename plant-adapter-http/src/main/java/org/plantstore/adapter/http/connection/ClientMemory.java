package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelHandlerContext;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.plantstore.adapter.http.observe.RareLine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory that clients make the service hold while it waits for them: what has come of requests
 * that are not whole, and answers that are not read. Beyond a limit connections are closed, so that
 * there is always room for clients that are not slow: first those of strangers, who have shown no
 * valid token with the request, then the others, and of each kind first the one that has held
 * memory for longest. Safe for use by many threads.
 */
@Singleton
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class ClientMemory {

  private static final Logger LOG = LoggerFactory.getLogger(ClientMemory.class);
  private static final int SHARE_OF_HEAP = 8;

  static final long LIMIT_BYTES = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;

  private final RareLine line = new RareLine();

  /** By the connection, in the order in which they began to hold memory. */
  private final Map<ChannelHandlerContext, Long> strangers = new LinkedHashMap<>();

  private final Map<ChannelHandlerContext, Long> callers = new LinkedHashMap<>();
  private long sumBytes;

  /**
   * Notes how much a connection holds.
   *
   * @param connection the connection, which is closed if it has to make room
   * @param bytes how much it holds in all, 0 if it waits for nothing any more
   * @param isStranger whether no valid token came with what it holds
   */
  void hold(ChannelHandlerContext connection, long bytes, boolean isStranger) {
    List<ChannelHandlerContext> closed = note(connection, bytes, isStranger);
    for (ChannelHandlerContext each : closed) {
      each.close();
    }
    if (!closed.isEmpty() && line.isDue()) {
      LOG.warn(
          "Connections are closed before their time-out because unfinished requests and unread"
              + " answers take {} bytes",
          LIMIT_BYTES);
    }
  }

  /** Answers how much all connections hold together. */
  synchronized long heldBytes() {
    return sumBytes;
  }

  private synchronized List<ChannelHandlerContext> note(
      ChannelHandlerContext connection, long bytes, boolean isStranger) {
    sumBytes += bytes - heldBy(connection);
    (isStranger ? callers : strangers).remove(connection);
    Map<ChannelHandlerContext, Long> held = isStranger ? strangers : callers;
    if (bytes == 0) {
      held.remove(connection);
    } else {
      held.put(connection, bytes);
    }
    if (sumBytes <= LIMIT_BYTES) {
      return List.of();
    }
    List<ChannelHandlerContext> closed = new ArrayList<>();
    takeOldest(strangers, closed);
    takeOldest(callers, closed);
    return closed;
  }

  private long heldBy(ChannelHandlerContext connection) {
    return strangers.getOrDefault(connection, 0L) + callers.getOrDefault(connection, 0L);
  }

  private void takeOldest(
      Map<ChannelHandlerContext, Long> held, List<ChannelHandlerContext> closed) {
    Iterator<Map.Entry<ChannelHandlerContext, Long>> oldest = held.entrySet().iterator();
    while (sumBytes > LIMIT_BYTES && oldest.hasNext()) {
      Map.Entry<ChannelHandlerContext, Long> next = oldest.next();
      sumBytes -= next.getValue();
      closed.add(next.getKey());
      oldest.remove();
    }
  }
}
