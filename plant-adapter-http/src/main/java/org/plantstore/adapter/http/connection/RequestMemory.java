package org.plantstore.adapter.http.connection;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Limits the memory that requests and responses of slow clients occupy on one event loop. While
 * this memory is exhausted, incomplete requests are not read further, and the rest of each remains
 * in its socket. A few privileged requests at a time are still read to the end. Otherwise
 * incomplete requests could hold all the memory, and none of them could be completed. Used only by
 * the event loop.
 */
final class RequestMemory {

  /** All event loops together may use the heap size divided by this number. */
  private static final int HEAP_DIVISOR = 8;

  /** The memory that is set aside for each privileged request; most requests need less. */
  private static final int RESERVED_BYTES = 32 * 1024;

  /** The limit divided by this number is the number of requests that may always be privileged. */
  private static final int BYTES_PER_PRIVILEGED_REQUEST = 256 * 1024;

  private final long maxBytes;
  private final long maxPrivileged;

  /**
   * The newest request is resumed first, so that a wave of slow clients does not delay later
   * clients.
   */
  private final Deque<Share> waiting = new ArrayDeque<>();

  private long heldBytes;
  private long privileged;

  RequestMemory(int eventLoops) {
    maxBytes = Runtime.getRuntime().maxMemory() / HEAP_DIVISOR / eventLoops;
    maxPrivileged = Math.max(1, maxBytes / BYTES_PER_PRIVILEGED_REQUEST);
  }

  Share newShare(Runnable resumeReading) {
    return new Share(resumeReading);
  }

  long maxBytes() {
    return maxBytes;
  }

  long heldBytes() {
    return heldBytes;
  }

  boolean isExhausted() {
    return heldBytes > maxBytes;
  }

  private void resumeWaiting() {
    while (!waiting.isEmpty()
        && (privileged < maxPrivileged
            || heldBytes + (privileged + 1) * RESERVED_BYTES <= maxBytes)) {
      waiting.removeLast().resume();
    }
  }

  /** The memory that one connection holds. */
  final class Share {

    private final Runnable resumeReading;
    private long bytes;
    private boolean isWaiting;
    private boolean isPrivileged;

    private Share(Runnable resumeReading) {
      this.resumeReading = resumeReading;
    }

    /** Sets the number of bytes that the connection holds. */
    void hold(long newBytes) {
      heldBytes += newBytes - bytes;
      bytes = newBytes;
      resumeWaiting();
    }

    /** Releases the memory, because the request or the response has ended. */
    void release() {
      if (isWaiting) {
        isWaiting = false;
        waiting.remove(this);
      }
      if (isPrivileged) {
        isPrivileged = false;
        privileged--;
      }
      hold(0);
    }

    /** Returns whether the request may be read further now. If not, reading resumes later. */
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

    private void resume() {
      isWaiting = false;
      isPrivileged = true;
      privileged++;
      resumeReading.run();
    }

    boolean isWaiting() {
      return isWaiting;
    }

    boolean isLimited() {
      return isExhausted() && !isPrivileged;
    }
  }
}
