package org.plantstore.adapter.http.connection;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;

/** Bounds the memory of all unanswered bodies together. Thread-safe. */
@Singleton
final class BodyBudget {

  /**
   * A plant exists as body, text, batch row and answer, up to four times its bytes in all. So an
   * eighth for bodies is half of the heap. The service itself needs a third of a small one.
   */
  private static final int SHARE_OF_HEAP = 8;

  /** The first bytes of each body, which are not counted; most plants have no more. */
  static final int FREE_BYTES = 4 * 1024;

  private final long limitBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
  private final AtomicLong takenBytes = new AtomicLong();

  /** Takes memory for one more part of a body, and returns whether there is enough. */
  boolean take(long bodyBytes, long partBytes) {
    long moreBytes = countedBytes(bodyBytes + partBytes) - countedBytes(bodyBytes);
    if (takenBytes.addAndGet(moreBytes) <= limitBytes || moreBytes == 0) {
      return true;
    }
    takenBytes.addAndGet(-moreBytes);
    return false;
  }

  void release(long bodyBytes) {
    takenBytes.addAndGet(-countedBytes(bodyBytes));
  }

  long takenBytes() {
    return takenBytes.get();
  }

  private static long countedBytes(long bodyBytes) {
    return Math.max(bodyBytes - FREE_BYTES, 0);
  }
}
