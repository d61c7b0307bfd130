package org.plantstore.adapter.http.connection;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;

/** Bounds the memory of all unanswered bodies together. Safe for use by many threads. */
@Singleton
final class BodyBudget {

  /**
   * As a body, as text, in a batch for the database and as an answer, a plant takes up to four
   * times its bytes, and the service itself needs a third of a small heap.
   */
  private static final int SHARE_OF_HEAP = 8;

  /** The bytes of each body that are not counted: a plant of usual size. */
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
