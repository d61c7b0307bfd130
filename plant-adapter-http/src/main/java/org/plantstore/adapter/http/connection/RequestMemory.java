package org.plantstore.adapter.http.connection;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The memory that one event loop has for requests and responses whose clients are slow. While it is
 * exhausted, the rest of an incomplete request waits in its socket, except that a few requests at a
 * time are read to their ends: otherwise incomplete requests could hold the memory that they need
 * to become complete. Used only by the event loop.
 */
final class RequestMemory {

  /** All event loops together may use one part of the heap out of so many. */
  private static final int PARTS_OF_HEAP = 8;

  /** Most requests need less until they are complete. */
  private static final int RESERVED_BYTES = 32 * 1024;

  /** One request in so many bytes is read to its end without regard to the limit. */
  private static final int BYTES_PER_PRIVILEGE = 256 * 1024;

  private final long maxBytes;
  private final long maxPrivileged;

  /** The newest is served first, so that a wave of slow clients does not delay those after it. */
  private final Deque<Share> waiting = new ArrayDeque<>();

  private long heldBytes;
  private long privileged;

  RequestMemory(int eventLoops) {
    maxBytes = Runtime.getRuntime().maxMemory() / PARTS_OF_HEAP / eventLoops;
    maxPrivileged = Math.max(1, maxBytes / BYTES_PER_PRIVILEGE);
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

  /** The memory of one connection. */
  final class Share {

    private final Runnable resumeReading;
    private long bytes;
    private boolean isWaiting;
    private boolean isPrivileged;

    private Share(Runnable resumeReading) {
      this.resumeReading = resumeReading;
    }

    /** Sets how many bytes the connection holds. */
    void hold(long newBytes) {
      heldBytes += newBytes - bytes;
      bytes = newBytes;
      resumeWaiting();
    }

    /** Ends the request or the response. */
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

    /** Returns whether more of the request may be read now; otherwise reading resumes later. */
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
