package org.plantstore.adapter.http.connection;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that the bodies of all requests may take together until they are answered: an eighth
 * of the heap. Without this bound, a body of the largest size on every connection would take more
 * than there is. Safe for use by many threads.
 */
@Singleton
final class BodyBudget {

  /**
   * As a body, as text, in a batch for the database and as an answer a plant takes up to four times
   * its bytes, and the service itself needs a third of a small heap.
   */
  private static final int SHARE_OF_HEAP = 8;

  /** The size of bodies that are free, so that a plant of usual size gets past large ones. */
  private static final int FREE_BYTES = 4 * 1024;

  /** What is kept beside the bytes of a part, of which a body may have as many as bytes. */
  private static final int BYTES_PER_PART = 256;

  private final long limitBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
  private final AtomicLong takenBytes = new AtomicLong();

  /** Returns the share of a body of which nothing has come yet. */
  Share share() {
    return new Share();
  }

  /** Returns how many bytes all bodies take beyond what is free. */
  long takenBytes() {
    return takenBytes.get();
  }

  /** The share of one body. For use by one thread, but for its {@link #release()}. */
  final class Share {

    private long bodyBytes;
    private long sharedBytes;

    /**
     * Takes memory for a part of the body.
     *
     * @param partBytes the size of the part
     * @return whether there was as much
     */
    boolean take(int partBytes) {
      bodyBytes += partBytes + BYTES_PER_PART;
      long moreBytes = Math.max(bodyBytes - FREE_BYTES - sharedBytes, 0);
      if (takenBytes.addAndGet(moreBytes) > limitBytes) {
        takenBytes.addAndGet(-moreBytes);
        return false;
      }
      sharedBytes += moreBytes;
      return true;
    }

    /** Returns whether {@link #release()} would give anything back. */
    boolean isTaken() {
      return sharedBytes > 0;
    }

    /** Gives back what was taken. To be called once. */
    void release() {
      takenBytes.addAndGet(-sharedBytes);
    }
  }
}
