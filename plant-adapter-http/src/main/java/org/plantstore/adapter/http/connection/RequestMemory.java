package org.plantstore.adapter.http.connection;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Limits the memory that the requests and responses of slow clients occupy on one event loop. While
 * this memory is exhausted, the service stops reading incomplete requests, and their unread parts
 * remain in the sockets. A few requests at a time are exempt from the limit, so the service still
 * reads them to the end. If no requests were exempt from the limit, incomplete requests could
 * occupy all the memory, and none of them could be completed. Used only by the event loop.
 */
final class RequestMemory {

  /** The limit for all event loops together is an eighth of the heap. */
  private static final int HEAP_DIVISOR = 8;

  /** The memory, in bytes, reserved for each exempt request. Most requests need less. */
  private static final int RESERVED_BYTES = 32 * 1024;

  /**
   * While no memory is free, the number of exempt requests is limited to one for every 64 KiB of
   * the memory limit.
   */
  private static final int BYTES_PER_EXEMPT_REQUEST = 64 * 1024;

  private final long maxBytes;
  private final long maxExempt;

  /**
   * The queue of connections that are waiting for memory, oldest first. About three quarters of the
   * exemptions from the limit are given to the newest connections, so that a large number of slow
   * clients cannot delay the clients that connect later. About a quarter of the exemptions are
   * given to the oldest connections, so that the service reads from them too. Only a read reveals
   * that a client has disconnected.
   */
  private final Deque<Share> waiting = new ArrayDeque<>();

  private long heldBytes;
  private long exempt;
  private long exemptAsOldest;

  RequestMemory(int eventLoops) {
    maxBytes = Runtime.getRuntime().maxMemory() / HEAP_DIVISOR / eventLoops;
    maxExempt = Math.max(1, maxBytes / BYTES_PER_EXEMPT_REQUEST);
  }

  Share newShare(Runnable resumeReading) {
    return new Share(resumeReading);
  }

  long maxBytes() {
    return maxBytes;
  }

  /** Returns whether the limit is exceeded or a connection is still waiting for memory. */
  boolean isExhausted() {
    return isLimitExceeded() || !waiting.isEmpty();
  }

  private boolean isLimitExceeded() {
    return heldBytes > maxBytes;
  }

  private void resumeWaiting() {
    while (!waiting.isEmpty()
        && (exempt < maxExempt || heldBytes + (exempt + 1) * RESERVED_BYTES <= maxBytes)) {
      boolean isOldest = exemptAsOldest * 4 < exempt;
      Share next = isOldest ? waiting.removeFirst() : waiting.removeLast();
      next.resume(isOldest);
    }
  }

  /** A connection's share of the event loop's memory for requests and responses. */
  final class Share {

    private final Runnable resumeReading;
    private long bytes;
    private boolean isWaiting;
    private boolean isExempt;
    private boolean isExemptAsOldest;

    private Share(Runnable resumeReading) {
      this.resumeReading = resumeReading;
    }

    void hold(long newBytes) {
      heldBytes += newBytes - bytes;
      bytes = newBytes;
      resumeWaiting();
    }

    /**
     * Releases the memory. If the connection's request was exempt from the limit, the exemption
     * ends.
     */
    void release() {
      if (isWaiting) {
        isWaiting = false;
        waiting.remove(this);
      }
      if (isExempt) {
        isExempt = false;
        exempt--;
        exemptAsOldest -= isExemptAsOldest ? 1 : 0;
      }
      hold(0);
    }

    /** Returns whether more of the request can be read now. If not, reading resumes later. */
    boolean mayRead() {
      if (!isLimited()) {
        return true;
      }
      if (!isWaiting) {
        isWaiting = true;
        waiting.addLast(this);
        resumeWaiting();
      }
      return false;
    }

    private void resume(boolean isOldest) {
      isWaiting = false;
      isExempt = true;
      isExemptAsOldest = isOldest;
      exempt++;
      exemptAsOldest += isOldest ? 1 : 0;
      resumeReading.run();
    }

    boolean isWaiting() {
      return isWaiting;
    }

    boolean isLimited() {
      return isLimitExceeded() && !isExempt;
    }
  }
}
