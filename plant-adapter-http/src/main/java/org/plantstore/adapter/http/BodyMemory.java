package org.plantstore.adapter.http;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that the bodies of all requests may take together, from their first bytes until they
 * are answered. Without a bound, a body of the largest size on every connection would take more
 * than there is. Safe for use by many threads.
 */
@Singleton
final class BodyMemory {

  /**
   * As a body, as text, in a batch for the database and as an answer a plant takes up to four times
   * its bytes, and the service itself needs a third of a small heap.
   */
  private static final int SHARE_OF_HEAP = 8;

  private final long limit;
  private final AtomicLong taken = new AtomicLong();

  BodyMemory() {
    this(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
  }

  private BodyMemory(long limit) {
    this.limit = limit;
  }

  /**
   * Takes memory, unless others have taken so much that there is none left.
   *
   * @param bytes how much more is needed
   * @param before how much the same body has taken before; one alone may take any amount
   * @return whether it was taken
   */
  boolean take(long bytes, long before) {
    long sum = taken.addAndGet(bytes);
    if (sum <= limit || sum == before + bytes) {
      return true;
    }
    taken.addAndGet(-bytes);
    return false;
  }

  /** Gives back what was taken. */
  void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }
}
